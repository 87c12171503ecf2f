"""Chapter 8: what comes twice is continued, by models that know positions in seven ways.

    python -m experiments.positions           # what is missing in attnkit/data/ch8-positions.json
    python -m experiments.positions --again   # everything anew, about ten minutes on one core

Task, models and training are those of the chapter itself: copies of 4 to 16 tokens. Each model is
then asked about longer copies, and about copies of a length that it knows which begin later. One
kind is trained longer as well. A run is written as soon as it is done, so that an interrupted one
goes on where it stopped. The models of the first seed go to ch8-positions.safetensors, and the
chapter measures them again.
"""

import json
import sys
from pathlib import Path

import safetensors.torch
import torch
from tqdm import tqdm

from experiments.from_chapter import definitions

DATA = Path(__file__).parents[1] / "attnkit" / "data"
TARGET, MODELS = DATA / "ch8-positions.json", DATA / "ch8-positions.safetensors"
chapter = definitions(
    "08-positions",
    ["doubled", "Attention", "Doubled", "added", "Model", "task", "next_token", "train", "right"],
)
CONDITIONS = {  # name: kind of position, layers
    "none": ("none", 2),
    "none, 3 layers": ("none", 3),
    "sinusoidal": ("sinusoidal", 2),
    "doubled": ("doubled", 2),
    "learned": ("learned", 2),
    "rotary": ("rotary", 2),
    "ALiBi": ("ALiBi", 2),
    "none, longer": ("none", 2),
}
SEEDS, STEPS = 5, 1000
LONGER = {"none, longer": (2, 4000)}  # seeds and steps: is it the depth, or the patience?
FARTHER = (4, 8, 12, 16, 24, 32, 48, 64)  # letters in a copy
LATER = (0, 8, 16, 32, 48, 64)  # letters before two copies of sixteen


def run(name: str, seed: int) -> tuple[dict, dict[str, torch.Tensor]]:
    """What one model gets right after training, and its weights."""
    kind, n_layers = CONDITIONS[name]
    torch.manual_seed(seed)
    model = chapter.Model(kind, n_layers)
    _, steps = LONGER.get(name, (SEEDS, STEPS))
    history = chapter.train(model, seed, steps)
    found = {
        "farther": {str(n): round(chapter.right(model, n), 4) for n in FARTHER},
        "later": {str(n): round(chapter.right(model, 16, n), 4) for n in LATER},
        "loss": [round(row.loss, 4) for row in history[99::100]],
    }
    return found, model.state_dict()


def write(runs: dict, models: dict[str, torch.Tensor]) -> None:
    """Write both files, each whole or not at all."""
    made = {"made_by": "python -m experiments.positions", "torch": torch.__version__}
    contents = {
        MODELS: safetensors.torch.save(models, metadata=made),
        TARGET: (json.dumps({**made, "runs": runs}) + "\n").encode(),
    }
    for path, content in contents.items():
        half = path.with_name(path.name + ".half")
        half.write_bytes(content)
        half.replace(path)


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    fresh = "--again" in sys.argv[1:] or not (TARGET.exists() and MODELS.exists())
    runs = {} if fresh else json.loads(TARGET.read_text())["runs"]
    models = {} if fresh else safetensors.torch.load_file(MODELS)
    for seed in tqdm(range(SEEDS), desc="seeds"):
        for name in tqdm(CONDITIONS, desc="models", leave=False):
            rows = runs.setdefault(name, [])
            if len(rows) > seed or seed >= LONGER.get(name, (SEEDS, STEPS))[0]:
                continue
            row, state = run(name, seed)
            rows.append(row)
            if seed == 0 and name not in LONGER:
                models |= {f"{name}/{key}": x.contiguous() for key, x in state.items()}
            write(runs, models)


if __name__ == "__main__":
    main()
