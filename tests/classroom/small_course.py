"""A course of two small chapters with every kind of exercise, built without execution."""

import json
from pathlib import Path

from edition_book import HEADER, SmallBook

CHAPTER = (
    HEADER
    + '''\
(ch3)=
# Small products

**Time:** about 20 minutes, and 15 for the exercises.

```{code-cell} ipython3
scale = 3
```

```{code-cell} ipython3
:tags: [remove-cell]

import numpy as np

assert scale == 3
```

(ch3-variance)=
## Exercises

Points for a class: 2, 2 and 4.

```{code-cell} ipython3
from attnkit.checks import check
```

````{exercise-start} The variance of a *score*
:label: ex-ch3-variance
````
With mean 0 and standard deviation $\\sigma$ write `score_variance(d_key, std)`.

```{code-cell} ipython3
power = 4
```

```{code-cell} ipython3
---
nbgrader: {grade: false, grade_id: ch3-variance, locked: false, schema_version: 3, solution: true}
---
def score_variance(d_key, std):
    """Variance of q·k."""
    ### BEGIN SOLUTION
    return d_key * std**power
    ### END SOLUTION
```

```{code-cell} ipython3
:tags: [kernel-only]

check("ch3-variance", score_variance)
```

```{code-cell} ipython3
---
nbgrader:
  {grade: true, grade_id: ch3-variance-test, locked: true, points: 2, schema_version: 3,
   solution: false}
tags: [remove-cell]
---
### BEGIN HIDDEN TESTS
check("ch3-variance", score_variance).require()
### END HIDDEN TESTS
```
````{exercise-end}
````

```{code-cell} ipython3
spreads = [score_variance(d, 1) for d in (1, 2)]
```

```{code-cell} ipython3
:tags: [raises-exception]

lost = [1][2]
```

```{code-cell} ipython3
print(lost, spreads)
```

```{code-cell} ipython3
name = 'read again'
```

````{exercise-start} Which changes leave the weights alone?
:label: ex-ch3-same-weights
````
Which of these leave **every weight** as it was?

- **A** add 100 to every score of a row
- **B** double every score
- **C** subtract from each row
  its own largest score
- **D** add 5 to the scores of one key, for every query
- **E** turn a row of equal scores, (8, 8, 8, 8), into (0, 0, 0, 0)
- **F** multiply each query and each key by the same rotation matrix
- **G** list every key twice

```{code-cell} ipython3
---
nbgrader:
  {grade: false, grade_id: ch3-same-weights, locked: false, schema_version: 3, solution: true}
---
same_weights = set()  # your letters, for example {"A", "B"}
### BEGIN SOLUTION
same_weights = {"A", "C", "E", "F"}
### END SOLUTION
```

```{code-cell} ipython3
:tags: [kernel-only]

check("ch3-same-weights", same_weights)
```

```{code-cell} ipython3
---
nbgrader:
  {grade: true, grade_id: ch3-same-weights-test, locked: true, points: 2, schema_version: 3,
   solution: false}
tags: [remove-cell]
---
### BEGIN HIDDEN TESTS
check("ch3-same-weights", same_weights).require()
### END HIDDEN TESTS
```
````{exercise-end}
````

````{exercise-start} In your own words
:label: ex-ch3-words
````
Two parts, which a person reads.

```{code-cell} ipython3
---
nbgrader:
  {grade: true, grade_id: ch3-words-measurement, locked: false, points: 1, schema_version: 3,
   solution: true}
---
def spread(scores):
    ### BEGIN SOLUTION
    # rubric 1: the standard deviation, okapiword
    return scores.std()
    ### END SOLUTION
```

+++ WORDS

Why is the scale there?

### BEGIN SOLUTION
<!-- rubric 2: names the variance -->
<!-- rubric 1: names the softmax -->
The zebraword says that $\\sqrt{d}$ keeps the softmax soft.
### END SOLUTION

```{code-cell} ipython3
:tags: [kernel-only]

# a cell of your own
1 + 1
```

````{exercise-end}
````

After the exercises.
'''
)
WORDS = {"grade": True, "grade_id": "ch3-words-text", "locked": False, "points": 3}
WORDS = {"nbgrader": WORDS | {"schema_version": 3, "solution": True}}
CHAPTER = CHAPTER.replace("WORDS", json.dumps(WORDS))
PLAIN = "# Nothing to do\n\nOnly text.\n"
SECRETS = ("std**power", '{"A", "C", "E", "F"}', "okapiword", "zebraword", ".require()", "BEGIN")


def build(folder: Path) -> SmallBook:
    """The course below ``folder``, as ``assign`` wants its root."""
    index = "# Course\n\n```{toctree}\nchapters/03-small\nchapters/04-plain\n```\n"
    pages = {"chapters/03-small.md": CHAPTER, "chapters/04-plain.md": PLAIN, "index.md": index}
    parts = ("public", "kernel_only", "notebooks", "instructor")
    return SmallBook(folder, pages, parts=parts, nb_execution_mode="off").built()
