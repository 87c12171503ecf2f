"""What the measurements of chapter 10 share: the model, the pairs, and how they judge a change."""

import json
from pathlib import Path

import torch
import torch.nn.functional as F

from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
chapter = definitions(
    "10-a-real-encoder",
    "model read inner places_of share shuffled on_neighbour value_lengths contributed "
    "STORIES".split(),
)
model = chapter.model
WRITTEN = json.loads((DATA / "ch10-pairs.json").read_text())
DRAWN = json.loads((DATA / "ch10-sentences.json").read_text())["sentences"]
SENTENCES = [sentence for texts in DRAWN.values() for sentence in texts]
PAIRS = [pair for topic in WRITTEN["pairs"].values() for pair in topic]
TEXTS = [text for pair in PAIRS for text in pair]
SCALE = 20  # of the cosines, which then are scores
torch.set_num_threads(1)  # sums in the same order everywhere
WHOLE = model.embed(TEXTS)  # of the model as it is, before anything is changed


def judge(embed=model.embed, rows=None) -> dict:
    """How the pairs fare; of all, or of some of them among all.

    ``cosine`` is that with the whole model's vectors; ``found`` counts, from either side, how
    often the paraphrase is the nearest; ``loss`` is the cross-entropy of that choice. ``own`` and
    ``others`` are the mean cosines of paraphrases and of all other sentences.
    """
    vectors = embed(TEXTS)
    rows = list(range(len(PAIRS))) if rows is None else rows
    left, right, own = vectors[::2], vectors[1::2], torch.tensor(rows)
    cosines = left @ right.T
    scores = [(SCALE * x)[rows] for x in (cosines, cosines.T)]
    return {
        "cosine": (vectors * WHOLE).sum(-1).view(-1, 2)[rows].mean().item(),
        "found": sum((s.argmax(-1) == own).sum().item() for s in scores),
        "loss": sum(F.cross_entropy(s, own).item() for s in scores) / 2,
        "own": cosines.diagonal().mean().item(),
        "others": cosines[~torch.eye(len(PAIRS), dtype=torch.bool)].mean().item(),
    }
