"""Draws that are a function of their arguments alone: the same in every process."""


def mixed(number: int, seed: int) -> int:
    """Mix a number and a seed into 64 bits (the finalizer of SplitMix64)."""
    x = (number + 0x9E3779B97F4A7C15 * (2 * seed + 1)) % 2**64
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % 2**64
    return x ^ (x >> 31)
