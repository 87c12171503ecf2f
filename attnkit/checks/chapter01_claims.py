"""Exercise ch1-claims: which statements do the chapter's measurements support?"""

from __future__ import annotations

from attnkit.checks._choice import ChoiceExercise, Slip, Statement, measured

#: The sections of chapter 1 that messages link to.
SECTIONS = {
    "ch1-task": "the task: from Chinese numerals to English words",
    "ch1-models": "two models that differ in one thing",
    "ch1-write": "writing, word by word",
    "ch1-live": "both trained in this notebook",
    "ch1-budget": "accuracy against steps and size",
    "ch1-longer": "numbers longer than any seen",
    "ch1-gradient": "how far back a gradient reaches",
    "ch1-compare": "the two models side by side",
}

CLAIMS = ChoiceExercise(
    id="ch1-claims",
    title="What do the measurements support?",
    link="ch1-compare",
    sections=SECTIONS,
    options=(
        Statement(
            "A",
            "After the same few hundred training steps the model with a fixed vector gets fewer "
            "nine-digit numbers right than the model with attention.",
            measured(True, "same data, same steps: with attention far more of them are right"),
        ),
        Statement(
            "B",
            "A vector of 192 numbers is too small to hold a nine-digit number.",
            measured(False, "the same vector, trained for longer, gets most of them right"),
        ),
        Statement(
            "C",
            "With more training steps the fixed vector gets more nine-digit numbers right.",
            measured(True, "its accuracy at nine digits rises with the number of steps"),
        ),
        Statement(
            "D",
            "In the trained model with a fixed vector, no gradient reaches a character twelve "
            "steps back.",
            measured(False, "before training next to none does; after training many times more"),
        ),
        Statement(
            "E",
            "Both models fail on numbers with far more characters than any they were trained on.",
            measured(True, "both fall towards 0 as the numbers grow, the fixed vector sooner"),
        ),
        Statement(
            "F",
            "With attention the decoder can compute all words of a translation at the same time.",
            measured(False, "each state of the GRU needs the one before, with attention or not"),
        ),
        Statement(
            "G",
            "With attention the length of a number does not matter, however long it is.",
            measured(False, "beyond the lengths seen in training its accuracy falls too"),
        ),
    ),
    misconceptions=(
        Slip(
            "chose-the-unsupported",
            "These are exactly the statements that the measurements do not support. The question "
            "is which they do.",
            "ch1-compare",
            rule=lambda chosen, right: chosen == set("ABCDEFG") - right,
        ),
        Slip(
            "chose-everything",
            "Some of these contradict each other: {B} says that nothing can help the fixed vector, "
            "{C} that more training does. Look each one up in the figure it speaks of.",
            "ch1-compare",
            rule=lambda chosen, right: chosen == set("ABCDEFG"),
        ),
        Slip(
            "capacity-for-budget",
            "Too little accuracy after a few steps does not show that the vector is too small. "
            "Trained for longer, the same 192 numbers do hold most nine-digit numbers: what is "
            "missing at first is training.",
            "ch1-budget",
            letter="B",
        ),
        Slip(
            "vanishing-taken-for-the-bottleneck",
            "A vanishing gradient describes the model before training. In the trained one many "
            "times more of it arrives twelve steps back: vanishing is not the bottleneck.",
            "ch1-gradient",
            letter="D",
        ),
        Slip(
            "attention-is-parallel",
            "Attention changes where the context comes from. The decoder is still a GRU: each "
            "state is computed from the one before, word by word.",
            "ch1-compare",
            letter="F",
        ),
        Slip(
            "attention-has-no-limit",
            "Attention is right for longer than the fixed vector, and then it breaks too: on "
            "numbers far longer than those of the training it is hardly ever right.",
            "ch1-longer",
            letter="G",
        ),
        Slip(
            "budget-gap-overlooked",
            "Compare the two at nine digits after the same number of steps: this is the gap that "
            "the chapter starts from, and the measurement does support it.",
            "ch1-live",
            letter="A",
        ),
        Slip(
            "training-cannot-help",
            "The fixed vector is not stuck: its curve at nine digits rises from few steps to many.",
            "ch1-budget",
            letter="C",
        ),
        Slip(
            "longer-taken-for-granted",
            "Right on every length of the training does not mean right beyond. On numbers with far "
            "more characters than any seen, both models fail.",
            "ch1-longer",
            letter="E",
        ),
    ),
)

EXERCISES = (CLAIMS,)
