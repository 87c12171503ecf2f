"""Tasks with exact ground truth: seeded data, every draw a function of its arguments alone."""

from attnkit.tasks.chinese_numerals import Batch, ChineseNumerals, Pair
from attnkit.tasks.cldr_names import CLDRNames, NameBatch
from attnkit.tasks.context import context_floor
from attnkit.tasks.number_words import NumberWords, TextBatch
from attnkit.tasks.repeated import RepeatBatch, RepeatedSequences
from attnkit.tasks.vocabulary import Vocabulary

__all__ = [
    "Batch",
    "CLDRNames",
    "ChineseNumerals",
    "NameBatch",
    "NumberWords",
    "Pair",
    "RepeatBatch",
    "RepeatedSequences",
    "TextBatch",
    "Vocabulary",
    "context_floor",
]
