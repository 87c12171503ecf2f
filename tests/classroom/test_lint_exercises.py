"""The lint of graded exercises: what it finds on a page that was right before."""

import all_kinds
import pytest
import small_course

from attnkit import checks
from attnkit.checks._bank import read_bank
from bookext.lint.exercises import exercise_cells
from bookext.lint.variations import variations
from bookext.source import read_page

OWN = read_bank(all_kinds.EXAMPLE, {})
KNOWN = {id: checks.exercise(id) for id in checks.exercise_ids()} | OWN
CHAPTER = small_course.CHAPTER
BANK = (all_kinds.EXAMPLE / "questions.md").read_text("utf-8")
PLAIN_CELL = "```{code-cell} ipython3\n"


def found(rule, text):
    return sorted(set(rule(read_page("page.md", text), KNOWN)))


@pytest.mark.parametrize("text", [CHAPTER, BANK], ids=["chapter", "bank"])
@pytest.mark.parametrize("rule", [exercise_cells, variations])
def test_a_right_page_has_no_finding(rule, text):
    assert found(rule, text) == []


@pytest.mark.parametrize(
    "old, new, words",
    [
        ('check("ch3-variance", score_variance).require()', "assert True", "is the one line"),
        (").require()\n", ").require()\nprint(1)\n", "is the one line"),
        (
            '("ch3-variance", score_variance).r',
            '("ch3-varianz", score_variance).r',
            "has the id 'ch3-varianz'",
        ),
        ("ch3-variance-test", "ch3-variance-t", "call it 'ch3-variance-test'"),
        ("grade_id: ch3-variance,", "grade_id: variance,", "'variance' belongs to no check"),
        ('\ncheck("ch3-variance", score_variance)\n', "\ncheck\n", "one visible cell check("),
        ('\ncheck("ch3-variance", score_variance)\n', '\ncheck("ch3-variance", 1)\n', "visible"),
        ("# rubric 1: the", "# rubric 2: the", "adds up to 2 points, the cell has 1"),
        ("<!-- rubric 2: names the variance -->\n", "", "adds up to 1 points, the cell has 3"),
        ("Points for a class: 2, 2 and 4.", "Points for a class: 2, 2 and 5.", "points 2, 2, 4"),
        ("Points for a class: 2, 2 and 4.", "", "no line 'Points for a class: 2, 2, 4.'"),
        (":label: ex-ch3-variance\n", "", "needs a label"),
    ],
)
def test_what_is_wrong_with_the_cells_of_an_exercise(old, new, words):
    assert old in CHAPTER
    messages = [message for _, _, message in found(exercise_cells, CHAPTER.replace(old, new, 1))]
    assert any(words in message for message in messages), messages


def test_a_graded_cell_outside_of_an_exercise():
    begin = CHAPTER.index("````{exercise-start} The variance")
    end = CHAPTER.index("````{exercise-end}") + len("````{exercise-end}\n````\n")
    cell = CHAPTER[CHAPTER.index(PLAIN_CELL + "---\n") : CHAPTER.index(PLAIN_CELL + ":tags: [ke")]
    text = CHAPTER[:begin] + cell + CHAPTER[end:]
    assert any(
        "outside of any exercise" in message for _, _, message in found(exercise_cells, text)
    )


@pytest.mark.parametrize(
    "text, old, new, words",
    [
        (CHAPTER, "Which of these leave", "Unlike B, which leave", "names option B"),
        (CHAPTER, "Which of these leave", "Unlike **C**, which leave", "names option C"),
        (CHAPTER, "- **B** double every score", "- **B** like D, doubled", "names option D"),
        (CHAPTER, "- **G** list every key twice\n", "", "the list '- **A** …' in the text has A"),
        (CHAPTER, "- **A** add", "- **H** add", "has H, B"),
        (BANK, "weights = [0.2, 0.3, 0.5]\n", "", "'weights' of 'bank-mix' must be set once"),
        (BANK, "values = [10, 4, -2]", "values = [10, 4, 2]", "must be set once"),
        (BANK, "Work out", "The first weight is 0.2. Work out", "the given number 0.2"),
        (BANK, "Work out", "The last value is −2. Work out", "the given number −2"),
    ],
)
def test_text_that_would_be_wrong_in_a_students_copy(text, old, new, words):
    assert old in text
    messages = [message for _, _, message in found(variations, text.replace(old, new, 1))]
    assert any(words in message for message in messages), messages


@pytest.mark.parametrize("words", ["A score of A heads", "$A B$ and `B`", "vitamin B12", "Q, K, V"])
def test_letters_that_are_no_options(words):
    text = CHAPTER.replace("Which of these leave", f"{words}. Which of these leave", 1)
    assert found(variations, text) == []
