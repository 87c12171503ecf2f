"""A bank with a page of every kind of exercise: code, letters, by hand, experiment, open."""

from pathlib import Path

from edition_book import ROOT
from small_course import CHAPTER

EXAMPLE = ROOT / "classroom" / "example_bank"
EXPERIMENT_CHECK = '''\
"""A check of an experiment: tosses of a coin."""

import random

from attnkit.checks import Between, ExperimentExercise, Misconception, Trial


def tosses(seed):
    rng = random.Random(seed)
    return sum(rng.random() < 0.5 for _ in range(200)) / 200


TOSS = ExperimentExercise(
    id="bank-toss",
    title="Tosses",
    link="ch3-softmax",
    sections={"ch3-softmax": "What the softmax sees"},
    predicts=Between(0, 1),
    call="measure(seed)",
    trials=lambda seeds: tuple(Trial(f"seed {s}", {"seed": s}) for s in seeds),
    results=("share",),
    holds=lambda trials: all(0.3 < float(t.got["share"]) < 0.7 for t in trials),
    misconceptions=(
        Misconception(
            "counts-of-heads",
            "This is a number of tosses; a share is at most 1.",
            "ch3-softmax",
            (lambda seed: 200 * tosses(seed),),
            when=lambda trials: all(float(t.got["share"]) > 1 for t in trials),
        ),
    ),
    right=tosses,
    seeds=(0, 1),
    words=3,
)
EXERCISES = (TOSS,)
'''
ANSWER = """\
```{{code-cell}} ipython3
---
nbgrader:
  {{grade: {grade}, grade_id: bank-toss-{part}, locked: false, {points}schema_version: 3,
   solution: true}}
---
{source}
```

"""
TEST = """\
```{code-cell} ipython3
:tags: [kernel-only]

check("bank-toss", (prediction, measure, explanation))
```

```{code-cell} ipython3
---
nbgrader:
  {grade: true, grade_id: bank-toss-test, locked: true, points: 1, schema_version: 3,
   solution: false}
tags: [remove-cell]
---
### BEGIN HIDDEN TESTS
check("bank-toss", (prediction, measure, explanation)).require()
### END HIDDEN TESTS
```
````{exercise-end}
````
"""
PREDICTION = "prediction = None\n### BEGIN SOLUTION\nprediction = 0.5\n### END SOLUTION"
MEASURE = '''\
def measure(seed):
    """The share of heads in 200 tosses."""
    ### BEGIN SOLUTION
    # rubric 1: tosses 200 times
    import random

    rng = random.Random(seed)
    return sum(rng.random() < 0.5 for _ in range(200)) / 200
    ### END SOLUTION'''
EXPLANATION = """\
explanation = ""
### BEGIN SOLUTION
# rubric 2: says that the coin is fair
explanation = "A fair coin, so near one half."
### END SOLUTION"""
START = "````{exercise-start} Tosses\n:label: ex-bank-toss\n````\nToss a coin.\n\n"


def page() -> str:
    """The example's page with more exercises behind its own."""
    ours = (EXAMPLE / "questions.md").read_text("utf-8")
    points = "Points for a class: 3, 2, 2, 4 and 1 + 2 + 1."
    ours = ours.replace("Points for a class: 3 and 2.", points)
    begin = CHAPTER.index("````{exercise-start} Which changes")
    more = CHAPTER[begin : CHAPTER.index("After the exercises.")]
    experiment = [
        ANSWER.format(grade="false", part="prediction", points="", source=PREDICTION),
        ANSWER.format(grade="true", part="measurement", points="points: 1, ", source=MEASURE),
        ANSWER.format(grade="true", part="explanation", points="points: 2, ", source=EXPLANATION),
    ]
    return "\n".join([ours, more, START, *experiment, TEST])


def write(folder: Path) -> Path:
    """The bank's folder."""
    folder.mkdir(parents=True)
    (folder / "all_kinds.md").write_text(page(), "utf-8")
    (folder / "checks.py").write_bytes((EXAMPLE / "checks.py").read_bytes())
    (folder / "toss.py").write_text(EXPERIMENT_CHECK, "utf-8")
    return folder
