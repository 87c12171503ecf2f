"""Attention in small PyTorch pieces, measured."""
