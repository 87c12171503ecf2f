"""Chapter 11: heads that are paid to draw a picture while they learn the neighbours' cards.

    python -m experiments.puppet             # what is missing in attnkit/data/ch11-puppet.json
    python -m experiments.puppet --again     # everything anew, about three minutes on one core

Model, training and measures are those of the chapter. Every run is written as soon as it is done,
so that an interrupted run goes on where it stopped.
"""

import json
import sys
from pathlib import Path

import torch
from tqdm import tqdm

from experiments.from_chapter import definitions

TARGET = Path(__file__).parents[1] / "attnkit" / "data" / "ch11-puppet.json"
chapter = definitions(
    "11-attention-at-work", "N_CARDS Puppet deal target_of train_puppet judge influence".split()
)
PICTURES = {
    "heart": """
        ..##....##..
        .#..#..#..#.
        #....##....#
        #..........#
        #..........#
        #..........#
        .#........#.
        .#........#.
        ..#......#..
        ...#....#...
        ....#..#....
        .....##.....
    """,
    "face": """
        ....####....
        ..##....##..
        .#........#.
        .#..#..#..#.
        #...#..#...#
        #..........#
        #..#....#..#
        #...####...#
        .#........#.
        .#........#.
        ..##....##..
        ....####....
    """,
    "NO": """
        #...#...###.
        #...#..#...#
        ##..#..#...#
        ##..#..#...#
        #.#.#..#...#
        #.#.#..#...#
        #.#.#..#...#
        #.#.#..#...#
        #..##..#...#
        #..##..#...#
        #...#..#...#
        #...#...###.
    """,
}
CONDITIONS = {  # options of train_puppet, seeds
    **{name: ({}, 5) for name in PICTURES},
    "heart, unpaid": ({"paid": 0.0}, 5),
    "heart, paid 20": ({"paid": 20.0}, 3),
    "heart, one head": ({"num_heads": 1}, 3),
}


def run(name: str, options: dict, seed: int) -> dict:
    """What one model learns, and its maps if it is the first of its picture."""
    target = chapter.target_of(PICTURES[name.split(",")[0]])
    model = chapter.train_puppet(target, seed, **options)
    right, drawn = chapter.judge(model, target)
    moved = chapter.influence(model)
    beside = torch.eye(len(target)).roll(1, 0) + torch.eye(len(target)).roll(-1, 0) > 0
    found = {
        "right": round(right, 4),
        "drawn": round(drawn, 4),
        "moved, neighbours": round(moved[beside].min().item(), 4),
        "moved, others": round(moved[~beside].max().item(), 4),
    }
    if seed == 0:
        maps = model(chapter.deal(1, len(target), torch.Generator())[0])[1]
        found["maps"] = [[[round(x, 3) for x in row] for row in m] for m in maps.tolist()]
    return found


def main() -> None:
    torch.set_num_threads(1)  # sums in the same order everywhere
    fresh = "--again" in sys.argv[1:] or not TARGET.exists()
    runs = {} if fresh else json.loads(TARGET.read_text())["runs"]
    for name, (options, seeds) in CONDITIONS.items():
        rows = runs.setdefault(name, [])
        for seed in tqdm(range(len(rows), seeds), desc=name):
            rows.append(run(name, options, seed))
            made = {"made_by": "python -m experiments.puppet", "torch": torch.__version__}
            half = TARGET.with_suffix(".half")
            half.write_text(json.dumps({**made, "pictures": PICTURES, "runs": runs}) + "\n")
            half.replace(TARGET)


if __name__ == "__main__":
    main()
