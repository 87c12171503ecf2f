"""Chapter 7: induction heads, how they come about, and what the model loses without each head.

    python -m experiments.induction             # what is missing in attnkit/data/ch7-induction.json
    python -m experiments.induction --again     # everything anew, about five minutes on one core

Ten seeds of training on repeated sequences with periods of 8 to 24, and five with a period of 16
only. Of the first seed the maps of one sequence are kept. A seed is written as soon as it is done;
an interrupted one starts anew.
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from tqdm import tqdm

from attnkit import causal_mask, patterns
from attnkit.ablation import ablate, head_importance
from attnkit.tasks import RepeatedSequences
from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TABLE = DATA / "ch7-induction.json"
chapter = definitions(
    "07-pattern-analysis",
    "task TwoLayers next_token train look second_copy scores describe without costs HEADS".split(),
)
SEEDS, FIXED_SEEDS, KEPT = 10, 5, 0
STEPS, EVERY = 800, 10
PERIOD, OTHER = 16, 12
MANY, FEW = 256, 64  # sequences for what is measured at the end, and at each snapshot


def new_model(seed: int) -> torch.nn.Module:
    """An untrained model, drawn as on the page."""
    torch.manual_seed(seed)
    return chapter.TwoLayers()


def learn(seed: int) -> tuple[torch.nn.Module, dict]:
    """A trained model, and its scores every ten steps from the start on."""
    model, probe, rows = new_model(seed), chapter.task.batch(FEW, PERIOD, seed=5), []

    def watch(model) -> float:
        loss, right, previous, induction = chapter.scores(model, probe)
        rows.append((loss, right, previous[0].tolist(), induction[1].tolist()))
        return right

    watch(model)
    chapter.train(model, chapter.task, seed, watch)
    names = ("loss", "right", "previous", "induction")
    return model, dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


@torch.no_grad()
def measured(model) -> dict:
    """Of fresh sequences: every head's scores, kind, cost and importance."""
    batch = chapter.task.batch(MANY, PERIOD, seed=7)
    mask = causal_mask(1 + 2 * PERIOD)
    table = patterns.describe_heads(chapter.look(model, batch.tokens), mask, period=PERIOD)
    loss, right = chapter.second_copy(model, batch)
    copy = batch.tokens[:, 1 : PERIOD + 1]
    once = ((copy[:, :, None] == copy[:, None]).sum(-1) == 1)[:, :-1]
    layers = [[(layer, head) for head in range(4)] for layer in range(2)]
    return {
        "loss": loss.mean().item(),
        "right": right.float().mean().item(),
        "right_once": right[once].float().mean().item(),
        "right_again": right[~once].float().mean().item(),
        "previous": [row.previous.mean for row in table],
        "previous_sd": [row.previous.sd for row in table],
        "induction": [row.induction.mean for row in table],
        "induction_sd": [row.induction.sd for row in table],
        "kinds": [row.kind for row in table],
        "pooled_kinds": [row.kind for row in chapter.describe(model)],
        "costs": chapter.costs(model, batch),
        "right_without": [chapter.without(model, batch, [head])[1] for head in chapter.HEADS],
        "without_layer": [chapter.without(model, batch, heads) for heads in layers],
        "induction_without": [induction_without(model, batch, head) for head in layers[0]],
        "importance": importance(model, batch),
        "periods": {period: second_layer(model, period) for period in (8, 12, 20, 24)},
    }


def induction_without(model, batch, head) -> list[float]:
    """Induction scores of the second layer when a head of the first puts out zero."""
    with ablate(model, {head: "zero"}):
        return second_layer(model, batch.period, batch)


def second_layer(model, period, batch=None) -> list[float]:
    """Induction scores of the second layer."""
    batch = batch or chapter.task.batch(MANY, period, seed=7)
    maps = chapter.look(model, batch.tokens)[1]
    return patterns.induction_score(maps, period).mean(0).tolist()


def importance(model, batch) -> list[float]:
    """Mean size of the gradient with respect to each head's gate, in nats."""

    def losses(model, batch):
        return chapter.second_copy(model, batch)[0].mean(-1)

    return head_importance(model, [batch], losses).flatten().tolist()


@torch.no_grad()
def fixed(seed: int) -> dict:
    """Trained with one period: what it does there, and at another one."""
    model = new_model(seed)
    with torch.enable_grad():
        chapter.train(model, RepeatedSequences(periods=(PERIOD, PERIOD)), seed)
    found = {}
    for period in (PERIOD, OTHER):
        batch = chapter.task.batch(MANY, period, seed=7)
        maps = chapter.look(model, batch.tokens)
        found[str(period)] = {
            "right": chapter.second_copy(model, batch)[1].float().mean().item(),
            "induction": patterns.induction_score(maps, period).mean(1).flatten().tolist(),
        }
    return found


def rounded(x, digits: int = 4):
    """The same table with four decimals."""
    if isinstance(x, dict):
        return {name: rounded(value) for name, value in x.items()}
    if isinstance(x, list | tuple):
        return [rounded(value) for value in x]
    return round(x, digits) if isinstance(x, float) else x


def write(table: dict) -> None:
    """Replace the file in one move."""
    half = TABLE.with_suffix(".half")
    half.write_text(json.dumps(table) + "\n")
    half.replace(TABLE)


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    settings = {
        "task": repr(chapter.task),
        "steps": STEPS,
        "every": EVERY,
        "period": PERIOD,
        "other": OTHER,
        "sequences": MANY,
        "probe": FEW,
    }
    table = json.loads(TABLE.read_text()) if TABLE.exists() else {}
    if "--again" in sys.argv or table.get("settings") != settings:
        made = {"made_by": "python -m experiments.induction", "torch": torch.__version__}
        table = {**made, "settings": settings, "seeds": [], "fixed": []}
    for seed in tqdm(range(len(table["seeds"]), SEEDS), desc="seeds"):
        model, curves = learn(seed)
        if seed == KEPT:
            tokens = chapter.task.batch(1, 8, seed=3).tokens
            maps = chapter.look(model, tokens)[:, 0].half()
            save_file({"maps": maps, "tokens": tokens[0]}, DATA / "ch7-induction.safetensors")
        table["seeds"].append(rounded({"curves": curves, **measured(model)}))
        write(table)
    for seed in tqdm(range(len(table["fixed"]), FIXED_SEEDS), desc="one period"):
        table["fixed"].append(rounded(fixed(seed)))
        write(table)


if __name__ == "__main__":
    main()
