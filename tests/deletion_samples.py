"""A made-up reader of names, and examples of what it answers, for the tests of the widget."""

import torch

from attnkit.widgets import DeletionExample, DeletionWidget

LANGUAGES = ["English", "Español", "Português", "中文", "العربية", "Deutsch", "Polski"]


def predict(names):
    """Probabilities and weights that follow from each code point and its place."""
    probabilities, weights = [], []
    for name in names:
        codes = torch.tensor([ord(sign) for sign in name], dtype=torch.float64)
        place = torch.arange(len(name), dtype=torch.float64)
        scores = 2.5 * torch.sin(codes * 1.7 + place)
        weight = scores.softmax(-1)
        votes = torch.sin(codes[:, None] * torch.arange(1, len(LANGUAGES) + 1) * 0.37)
        probabilities.append((6 * weight @ votes).softmax(-1))
        weights.append(weight.tolist())
    return torch.stack(probabilities), weights


NAMES = [("Åland", "Português"), ("Mississipi", "English"), ("中国", "中文"), ("مصر", "العربية")]


def examples(names=NAMES):
    return [DeletionExample.of(predict, text, label, LANGUAGES) for text, label in names]


def deletion_widget(name=0, deleted=()):
    return DeletionWidget(examples(), name, deleted)
