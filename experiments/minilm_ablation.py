"""Chapter 10: heads taken away, one by one, layer by layer, and one after another."""

import torch
import torch.nn.functional as F
from tqdm import tqdm

from attnkit.ablation import ablate, head_importance, mean_outputs
from attnkit.pretrained import pool
from experiments.minilm_pairs import PAIRS, SCALE, SENTENCES, TEXTS, chapter, judge, model

HEADS = [(layer, head) for layer in range(6) for head in range(12)]
COUNTS = [6, 12, 18, 24, 30, 36, 48, 60]
ORDERS = 5  # random ones


def one_by_one() -> dict:
    """Each head alone, in three ways: the pairs, and sixty real sentences."""
    means, table = head_means(), {}
    starts, few = states(TEXTS), states(SENTENCES[::5])
    whole = ends(few, 0)
    for kind in ("zero", "mean", "uniform"):
        rows = []
        for layer, head in tqdm(HEADS, desc=kind):
            with ablate(model, {(layer, head): kind}, means=means):
                row = judge(lambda _, layer=layer: ends(starts, layer))
                if kind == "zero":
                    row["sentences"] = (ends(few, layer) * whole).sum(-1).mean().item()
            rows.append({n: row[n] for n in ("cosine", "found", "loss", "sentences") if n in row})
        table[kind] = {name: [row[name] for row in rows] for name in rows[0]}
    return table


@torch.no_grad()
def states(texts) -> tuple:
    """Texts of like length together, and the input of each layer."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    parts = [order[i : i + 32] for i in range(0, len(order), 32)]
    batches = [model.tokenize([texts[i] for i in part]) for part in parts]
    return torch.tensor(order), [(t, model(t, need_weights=False).hidden_states) for t in batches]


@torch.no_grad()
def ends(batches, first: int) -> torch.Tensor:
    """The vectors, computed from a layer on: what lies before it does not change."""
    order, parts = batches
    vectors = []
    for tokens, inputs in parts:
        x = inputs[first]
        for layer in model.layers[first:]:
            x = layer(x, tokens.mask, need_weights=False).output
        vectors.append(pool(x, tokens.lengths))
    return torch.cat(vectors)[order.argsort()]


def head_means() -> list:
    """The mean output of each head over half of the sentences."""
    batches = [tokens for tokens, _ in chapter.read(SENTENCES[::2])]
    return mean_outputs(model, batches, counted=lambda tokens: tokens.mask[:, 0, 0])


def layers() -> dict:
    """All twelve heads of a layer at once, and all heads of all layers."""
    means, table = head_means(), {}
    for kind in ("zero", "mean", "uniform"):
        rows = []
        for chosen in [[key for key in HEADS if key[0] == layer] for layer in range(6)] + [HEADS]:
            with ablate(model, dict.fromkeys(chosen, kind), means=means):
                rows.append(judge())
        table[kind] = {name: [row[name] for row in rows] for name in ("cosine", "found", "loss")}
    return table


def halves() -> list[list[int]]:
    """The pairs of the even topics, and those of the odd ones."""
    return [[i for i in range(len(PAIRS)) if i // 4 % 2 == half] for half in (0, 1)]


def importance(rows: list[int]) -> torch.Tensor:
    """Michel et al., 2019: the mean size of the gradient of a pair's loss by the head's gate.

    Each sentence has gates of its own; the loss of a pair is that of its first sentence, against
    the second sentences as the whole model has them.
    """
    right = model.embed([PAIRS[i][1] for i in rows])
    left = [(PAIRS[i][0], k) for k, i in enumerate(rows)]

    def losses(model, batch):
        tokens = model.tokenize([text for text, _ in batch])
        vectors = pool(model(tokens, need_weights=False).hidden, tokens.lengths)
        own = torch.tensor([k for _, k in batch])
        return F.cross_entropy(SCALE * vectors @ right.T, own, reduction="none")

    batches = [left[i : i + 16] for i in range(0, len(left), 16)]
    return head_importance(model, batches, losses, normalize=True)


def orders(alone: list[float]) -> dict:
    """Heads taken away one after another: the least important first, or at random.

    ``alone`` are the cosines of the sentences without each head. The order by gradients comes from
    the pairs of one half of the topics and is judged on those of the other; ``halves`` tells how
    the other orders fare there.
    """
    parts, means = halves(), head_means()
    chosen = [("cosine", sorted(HEADS, key=lambda x: -alone[12 * x[0] + x[1]]), None)]
    for half in (0, 1):
        gradient = importance(parts[half]).flatten()
        order = [HEADS[i] for i in gradient.argsort(stable=True)]
        chosen.append(("importance", order, parts[1 - half]))
    for seed in range(ORDERS):
        rng = torch.Generator().manual_seed(seed)
        drawn = [HEADS[i] for i in torch.randperm(len(HEADS), generator=rng)]
        chosen.append(("random", drawn, None))
    runs = []
    for kind in ("zero", "mean"):
        for name, order, rows in tqdm(chosen, desc=f"orders, {kind}"):
            curve, on_halves = [], []
            for n in COUNTS:
                with ablate(model, dict.fromkeys(order[:n], kind), means=means):
                    vectors = model.embed(TEXTS)
                curve.append(judge(lambda _, same=vectors: same, rows))
                found = [judge(lambda _, same=vectors: same, part)["found"] for part in parts]
                on_halves.append(found)
            columns = {c: [point[c] for point in curve] for c in ("cosine", "found", "loss")}
            about = {"order": name, "kind": kind, "of": 2 * len(rows or PAIRS)}
            if rows is None:
                columns["halves"] = [list(half) for half in zip(*on_halves, strict=True)]
            runs.append({**about, "whole": judge(rows=rows)["found"], **columns})
    whole = [judge(rows=part)["found"] for part in parts]
    return {"counts": COUNTS, "whole on halves": whole, "runs": runs}
