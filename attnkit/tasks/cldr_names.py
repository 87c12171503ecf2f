"""Names of territories, languages and currencies in many languages: whose name is this?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from attnkit import expect
from attnkit.tasks.draws import mixed
from attnkit.tasks.spelling import alike, bits, normal
from attnkit.tasks.vocabulary import Vocabulary, padded

#: Languages of one script, Latin: where scripts differ, one character tells the language.
LANGUAGES = (
    *("ca", "cs", "da", "de", "en", "es", "et", "eu", "fi", "fr", "ga", "hr", "hu", "id", "is"),
    *("it", "lt", "lv", "nb", "nl", "pl", "pt", "ro", "sk", "sl", "sq", "sv", "sw", "tr", "vi"),
)
#: What the names are of; each is an attribute of babel's Locale.
KINDS = ("territories", "languages", "currencies")
UNKNOWN = "<unk>"  # the token of a character that is in no training name


class NameBatch(NamedTuple):
    """Names as padded sequences of character numbers (int64), with their languages."""

    characters: Tensor  # (batch, T); 0 is padding
    lengths: Tensor  # (batch,)
    languages: Tensor  # (batch,), places in task.languages

    def to(self, device: torch.device | str) -> NameBatch:
        """The same batch on another device."""
        return NameBatch(*(tensor.to(device) for tensor in self))


class CLDRNames:
    """Names and the language that they are in, from the Unicode CLDR through ``babel``.

    The names are what CLDR calls the territories, languages and currencies of the world in each of
    the languages, in Unicode's composed form (NFC), upper and lower case kept, with single spaces.
    A *pair* is a name and a language that has it, counted once whatever it names there.

    Some names, such as Angola, are in several languages: for them no answer is right. They are kept
    in ``pairs`` and ``ambiguous``, and are in neither part, train or test. With them, no reader
    of names can be right more often than

    .. math:: \\text{ceiling} = \\frac{\\text{different names}}{\\text{pairs}}

    where every pair is asked for once: of the pairs of one name, one answer fits one. In the two
    parts every name has exactly one language, and a perfect reader would be right each time.

    Names that are equal but for case, accents, spaces and punctuation (Mali and Malí) belong to one
    part, train or test, whatever their languages: a hash of what they share decides, the same for
    every choice of languages.

    >>> task = CLDRNames(("de", "fr", "is"))
    >>> task.language_names
    ('German', 'French', 'Icelandic')
    >>> task.ambiguous["Angola"], ("Allemagne", "fr") in task.pairs
    (('de', 'fr'), True)
    >>> task.ceiling == task.n_strings / task.n_pairs
    True

    The counts depend on the version of CLDR, which ``source`` names. By default babel 2.19.0 (CLDR
    49) gives 35,138 pairs of 25,209 names; 2,571 names are in several languages and make 36 % of
    the pairs, so that the ceiling is 72 %; 18,164 names are for training and 4,474 for the test.

    The parts are lists of (name, code) in a mixed order, so that the first few are a fair sample.

    Args:
        languages: Codes that babel knows, at least two; their order is that of the classes. The
            default is 30 languages that are written in Latin letters.
        kinds: What the names are of: any of "territories", "languages" and "currencies".
        test_share: Share of the names that belong to the test part.
        seed: Of the division into train and test.

    Raises:
        ModuleNotFoundError: babel is not installed.
        TypeError: The languages or kinds are not a sequence of strings, or a number is none.
        ValueError: A language or kind is unknown or stands twice, there are fewer than two
            languages, one has no names of its own, the share is not between 0 and 1, or a part is
            empty.

    Unicode Common Locale Data Repository, https://cldr.unicode.org.
    """

    def __init__(
        self,
        languages: Sequence[str] = LANGUAGES,
        kinds: Sequence[str] = KINDS,
        *,
        test_share: float = 0.2,
        seed: int = 0,
    ) -> None:
        self.languages = _strings("languages", languages)
        self.kinds = _strings("kinds", kinds)
        if len(self.languages) < 2:
            raise ValueError(
                f"languages must be at least two codes, got {self.languages}: with one language "
                "there is nothing to tell."
            )
        unknown = [kind for kind in self.kinds if kind not in KINDS]
        if unknown or not self.kinds:
            known = ", ".join(map(repr, KINDS))
            raise ValueError(f"kinds must be some of {known}, got {unknown or self.kinds}.")
        self.test_share = expect.number("test_share", test_share)
        if not 0 < self.test_share < 1:
            raise ValueError(f"test_share must be between 0 and 1, got {self.test_share}.")
        self.seed = expect.integer("seed", seed)

        locales, self.source = _locales(self.languages)
        self.language_names = tuple(locale.get_display_name("en") for locale in locales)
        self._class = {code: i for i, code in enumerate(self.languages)}
        owners: dict[str, list[str]] = {}
        for code, locale in zip(self.languages, locales, strict=True):
            for name in sorted(set(_names(locale, self.kinds))):
                owners.setdefault(name, []).append(code)
        #: Every (name, code) before anything is dropped, name by name.
        self.pairs = [(name, code) for name in sorted(owners) for code in owners[name]]
        #: The names of several languages, with their codes.
        self.ambiguous = {name: tuple(codes) for name, codes in owners.items() if len(codes) > 1}
        own = [(name, code) for name, code in self.pairs if name not in self.ambiguous]
        own.sort(key=lambda pair: bits(pair[0]))  # mixed: the first few are a fair sample
        parts: tuple[list, list] = [], []
        for pair in own:
            parts[self.is_test(pair[0])].append(pair)
        self.train, self.test = parts
        without = set(self.languages) - {code for _, code in own}
        if without:
            raise ValueError(
                f"each language must have names of its own, got none for {sorted(without)}: every "
                f"name is another one's too. Leave one of them out, or take more kinds."
            )
        if not self.train or not self.test:
            raise ValueError(
                f"both parts must have names, got {len(self.train)} for training and "
                f"{len(self.test)} for the test. Take another test_share, or more kinds."
            )
        seen = sorted({character for name, _ in self.train for character in name})
        self.vocabulary = Vocabulary([UNKNOWN, *seen])
        self._number = {token: i for i, token in enumerate(self.vocabulary.tokens)}
        self.unknown = self._number[UNKNOWN]

    def __repr__(self) -> str:
        return (
            f"CLDRNames({' '.join(self.languages)}; {', '.join(self.kinds)}; "
            f"test_share={self.test_share}, seed={self.seed})"
        )

    @property
    def n_pairs(self) -> int:
        """Different pairs of a name and a language, before names of several are dropped."""
        return len(self.pairs)

    @property
    def n_strings(self) -> int:
        """Different names, before those of several languages are dropped."""
        return len({name for name, _ in self.pairs})

    @property
    def ceiling(self) -> float:
        """The best share of right answers to all pairs that a reader of names can have."""
        return self.n_strings / self.n_pairs

    def is_test(self, name: str) -> bool:
        """Whether a name, of the task or not, belongs to the test part.

        Raises:
            TypeError: The name is not a str.
        """
        return mixed(bits(alike(normal(name))), self.seed) < self.test_share * 2**64

    def encode(self, names: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Any names as character numbers ``(batch, T)``, padded with 0, and lengths ``(batch,)``.

        A character that is in no training name becomes ``unknown``. A name may have no characters.

        Raises:
            TypeError: The names are no sequence, or one is not a str.
            ValueError: There are no names.
        """
        if isinstance(names, str) or not hasattr(names, "__len__"):
            got = f"{names!r} ({type(names).__name__})"
            raise TypeError(f"names must be a sequence of str, got {got}. One is [name].")
        if not len(names):
            raise ValueError("a batch needs at least one name, got none.")
        rows = [[self._number.get(c, self.unknown) for c in normal(name)] for name in names]
        characters, lengths = padded(rows)
        return characters.long(), lengths  # without any character torch makes floats

    def batch(self, names: Sequence[tuple[str, str]]) -> NameBatch:
        """Pairs of a name and a language's code, such as some of ``test``, as one batch.

        Raises:
            TypeError: The pairs are no sequence, or one is not two strings.
            ValueError: There are no pairs, or a code is not of the task.
        """
        cure = "such as [('Allemagne', 'fr')]; names alone are task.encode(names)"
        if isinstance(names, str) or not hasattr(names, "__len__"):
            raise TypeError(f"names must be pairs of name and code, got {names!r}: {cure}.")
        for pair in names:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise TypeError(f"names must be pairs of name and code, got {pair!r}: {cure}.")
            if not isinstance(pair[1], str) or pair[1] not in self._class:
                raise ValueError(
                    f"the code of {pair[0]!r} must be one of {' '.join(self.languages)}, got "
                    f"{pair[1]!r}."
                )
        characters, lengths = self.encode([name for name, _ in names])
        return NameBatch(characters, lengths, torch.tensor([self._class[c] for _, c in names]))

    def training_batch(self, step: int, size: int = 64, *, seed: int = 0) -> NameBatch:
        """The batch of one training step: the same for the same step, size and seed.

        Each draw takes every training name with the same probability, so that a language comes as
        often as it has names of its own; the test part has about the same shares.

        Raises:
            TypeError: An argument is not an integer.
            ValueError: An argument is too small.
        """
        size = expect.integer("size", size, at_least=1)
        step, seed = expect.integer("step", step), expect.integer("seed", seed)
        generator = torch.Generator().manual_seed(mixed(step, seed))
        drawn = torch.randint(len(self.train), (size,), generator=generator)
        return self.batch([self.train[i] for i in drawn.tolist()])


def _strings(name: str, values: Sequence[str]) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):  # a set has no order
        raise TypeError(f"{name} must be a sequence of str, got {values!r}. One is ({values!r},).")
    result = tuple(values)
    for value in result:
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a sequence of str, got {value!r} in it.")
    if len(set(result)) < len(result):
        twice = next(value for i, value in enumerate(result) if value in result[:i])
        raise ValueError(f"{name} must differ, got {twice!r} twice.")
    return result


def _locales(codes: Sequence[str]) -> tuple[list, str]:
    """babel's Locale of each code, and where they come from."""
    try:
        import babel.core
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "CLDRNames reads the names from the package babel, which is not installed. "
            "Install it: pip install babel."
        ) from error
    locales = []
    for code in codes:
        try:
            locales.append(babel.Locale.parse(code.replace("-", "_")))
        except (babel.UnknownLocaleError, ValueError):
            raise ValueError(
                f"languages must be codes that babel has data for, such as 'de' or 'pt_PT', got "
                f"{code!r}. All codes: babel.localedata.locale_identifiers()."
            ) from None
    cldr = getattr(babel.core, "get_cldr_version", lambda: "unknown")()
    return locales, f"babel {babel.__version__}, CLDR {cldr}"


def _names(locale, kinds: Sequence[str]) -> Iterator[str]:
    for kind in kinds:
        yield from filter(None, map(normal, getattr(locale, kind).values()))
