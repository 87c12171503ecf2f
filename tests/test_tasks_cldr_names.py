"""Names in many languages: the counts, what may be in which part, and draws that never change."""

import doctest
import importlib.metadata
import os
import re
import subprocess
import sys
import types
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import babel
import numpy as np
import pytest
import torch

from attnkit.tasks import CLDRNames, NameBatch, cldr_names, spelling
from attnkit.tasks.cldr_names import KINDS, LANGUAGES
from attnkit.tasks.spelling import alike, normal

PINNED = re.search(
    r"^babel==(\S+)$", (Path(__file__).parents[1] / "requirements.txt").read_text(), re.MULTILINE
)[1]


@pytest.fixture(scope="module")
def task():
    return CLDRNames()


@pytest.fixture(scope="module")
def small():
    return CLDRNames(("de", "fr", "is"), ("territories",))


@pytest.fixture(scope="module")
def seeded():
    return [CLDRNames(("sw", "vi"), ("territories",), seed=seed) for seed in range(9)]


def bare(name):
    """Without case and accents: written apart from the task's own rule."""
    parts = unicodedata.normalize("NFD", name.casefold())
    return unicodedata.normalize("NFC", "".join(c for c in parts if not unicodedata.combining(c)))


@pytest.mark.parametrize("module", [cldr_names, spelling])
def test_doctests(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed


# What is counted


def test_pairs_are_what_babel_says(task):
    expected = {
        (" ".join(unicodedata.normalize("NFC", name).split()), code)
        for code in LANGUAGES
        for kind in KINDS
        for name in getattr(babel.Locale.parse(code), kind).values()
    }
    assert set(task.pairs) == expected and len(task.pairs) == len(expected) == task.n_pairs
    assert task.n_strings == len({name for name, _ in expected})
    assert len(LANGUAGES) == 30 == len(task.languages) == len(task.language_names)


def test_ambiguous_names_are_those_of_several_languages(task):
    owners = defaultdict(set)
    for name, code in task.pairs:
        owners[name].add(code)
    several = {name: codes for name, codes in owners.items() if len(codes) > 1}
    assert {name: set(codes) for name, codes in task.ambiguous.items()} == several
    own = {(name, code) for name, code in task.pairs if name not in several}
    assert set(task.train) | set(task.test) == own
    assert len(task.train) + len(task.test) == len(own)


def test_ceiling_is_what_the_best_reader_gets(task):
    """Who has seen every pair answers with the commonest language of a name, and is right once."""
    votes = defaultdict(Counter)
    for name, code in task.pairs:
        votes[name][code] += 1
    right = sum(votes[name].most_common(1)[0][0] == code for name, code in task.pairs)
    assert task.ceiling == right / task.n_pairs


def test_figures_of_the_docstring(task):
    version = re.search(r"babel (\S+) \(CLDR\s+(\d+)\)", CLDRNames.__doc__)
    assert version[1] == PINNED  # who changes the pin counts again
    if importlib.metadata.version("babel") != PINNED:
        pytest.skip(f"counted with babel {PINNED}")
    assert task.source == f"babel {PINNED}, CLDR {version[2]}"
    said = re.findall(r"\d+,\d+|\d+(?= %)", CLDRNames.__doc__[version.end() :])
    shared = sum(map(len, task.ambiguous.values()))
    assert [int(number.replace(",", "")) for number in said] == [
        task.n_pairs,
        task.n_strings,
        len(task.ambiguous),
        round(100 * shared / task.n_pairs),
        round(100 * task.ceiling),
        len(task.train),
        len(task.test),
    ]


# What is in which part


def test_no_name_is_in_two_languages(task):
    names = [name for name, _ in task.train + task.test]
    assert len(names) == len(set(names))


def test_no_name_is_in_both_parts_not_even_nearly(task):
    for same in (str, str.casefold, bare, alike, lambda name: name.replace(" ", "")):
        assert not {same(name) for name, _ in task.train} & {same(name) for name, _ in task.test}


@pytest.mark.parametrize(
    "names",
    [
        ("Mali", "Malí", "mali", "MALI", "Ma\u0301li", " Mali "),
        ("Kongo-Kinshasa", "Kongo – Kinshasa", "kongo kinshasa"),
        ("Côte d’Ivoire", "Cote d'Ivoire", "Cote d Ivoire"),
        ("Østrig", "Ostrig"),
        ("Łódź", "lodz"),
        ("İstanbul", "istanbul", "\u0131stanbul", "ISTANBUL"),
        ("đakova", "Dakova"),
        ("Straße", "STRASSE"),
        ("Đài Loan", "dai loan"),
    ],
)
def test_look_alikes_are_in_one_part_for_every_seed(names, seeded):
    assert len({alike(normal(name)) for name in names}) == 1
    for task in seeded:
        assert len({task.is_test(name) for name in names}) == 1


def test_different_names_are_not_taken_for_alike(task):
    """Few names share their letters, and names of signs alone are not one group."""
    assert alike("Mali") != alike("Malia")
    assert alike("…") != alike("–") and alike("…")
    groups = Counter(alike(name) for name, _ in task.train)
    assert len(groups) > 0.9 * len(task.train)


def test_a_name_keeps_its_part_whatever_else_is_in_the_task(task, small):
    other = CLDRNames(("is", "nb", "de"), seed=0)
    for one in (small, other):
        assert all(task.is_test(name) for name, _ in one.test)
        assert not any(task.is_test(name) for name, _ in one.train)


def test_share_and_seed_of_the_test_part(task):
    share = len(task.test) / (len(task.test) + len(task.train))
    assert abs(share - 0.2) < 0.01
    half = CLDRNames(("de", "fr", "is"), test_share=0.5, seed=3)
    assert abs(len(half.test) / (len(half.test) + len(half.train)) - 0.5) < 0.03
    again = CLDRNames(("de", "fr", "is"), test_share=0.5, seed=4)
    assert set(half.test) != set(again.test)


def test_the_first_few_are_a_fair_sample(task):
    """Names of a part are not in alphabetical order: the first thousand have every language."""
    for part in (task.train, task.test):
        assert len({code for _, code in part[:1000]}) == 30
        initials = Counter(name[0].casefold() for name, _ in part[:1000])
        assert initials.most_common(1)[0][1] < 200


# Batches


def test_a_batch_holds_characters_lengths_and_places_of_languages(small):
    batch = small.batch([("Allemagne", "fr"), ("Ísland", "is"), ("Österreich", "de")])
    assert isinstance(batch, NameBatch)
    assert batch.characters.shape == (3, 10) and batch.lengths.tolist() == [9, 6, 10]
    assert batch.languages.tolist() == [1, 2, 0]
    assert all(tensor.dtype == torch.int64 for tensor in batch)
    places = torch.arange(10)
    assert torch.equal(batch.characters == 0, places >= batch.lengths[:, None])
    assert "".join(small.vocabulary.decode(batch.characters[1])) == "Ísland"
    assert [small.languages[i] for i in batch.languages] == ["fr", "is", "de"]
    assert torch.equal(batch.to("cpu").characters, batch.characters)


def test_every_name_comes_back_from_its_characters(task):
    batch = task.batch(task.train)
    for row, (name, code), place in zip(
        batch.characters.tolist(), task.train, batch.languages.tolist(), strict=True
    ):
        assert "".join(task.vocabulary.decode(row)) == name
        assert task.languages[place] == code


def test_vocabulary_is_that_of_the_training_names(task):
    seen = {character for name, _ in task.train for character in name}
    assert set(task.vocabulary.tokens[4:]) == seen and task.vocabulary.tokens[3] == "<unk>"
    assert task.unknown == 3
    strange = "龘"
    assert strange not in seen
    characters, lengths = task.encode([f"a{strange}b", strange])
    assert characters[0, 1] == task.unknown and characters[1].tolist() == [task.unknown, 0, 0]
    assert lengths.tolist() == [3, 1]


def test_composed_and_decomposed_names_are_one(task):
    one, other = task.encode(["Côte"])[0], task.encode([" Co\u0302te "])[0]
    assert torch.equal(one, other)
    assert torch.equal(task.encode(["a b"])[0], task.encode(["a\u00a0 b"])[0])
    assert not torch.equal(task.encode(["Mali"])[0], task.encode(["mali"])[0])  # case is kept


def test_names_without_characters(task):
    characters, lengths = task.encode(["", "a", ""])
    assert characters.shape == (3, 1) and lengths.tolist() == [0, 1, 0]
    characters, lengths = task.encode([""])
    assert characters.shape == (1, 0) and characters.dtype == torch.int64 == lengths.dtype


# Training batches


def test_a_training_batch_is_a_function_of_step_size_and_seed(small):
    first = small.training_batch(5, 7, seed=2)
    again = CLDRNames(("de", "fr", "is"), ("territories",)).training_batch(np.int64(5), 7, seed=2)
    assert len(first.characters) == 7 and len(small.training_batch(5).characters) == 64
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    for step, seed in ((6, 2), (5, 3), (2, 5)):
        assert not torch.equal(small.training_batch(step, 7, seed=seed).lengths, first.lengths)


def test_training_draws_every_training_name_as_often_and_no_other(small):
    count = Counter()
    for step in range(40):
        batch = small.training_batch(step, 1000)
        for row, place in zip(batch.characters.tolist(), batch.languages.tolist(), strict=True):
            count["".join(small.vocabulary.decode(row)), small.languages[place]] += 1
    assert set(count) == set(small.train)
    expected = 40_000 / len(small.train)
    assert all(abs(n - expected) < 5.5 * expected**0.5 for n in count.values())


def test_shares_of_the_languages_are_those_of_their_own_names(task):
    places = torch.cat([task.training_batch(step, 997).languages for step in range(30)])
    drawn = places.bincount(minlength=30) / len(places)
    wanted = Counter(code for _, code in task.train)
    for share, code in zip(drawn.tolist(), task.languages, strict=True):
        expected = wanted[code] / len(task.train)
        assert abs(share - expected) < 5 * (expected / len(places)) ** 0.5
    assert max(wanted.values()) > 2 * min(wanted.values())  # so that this is no even draw


def test_draws_leave_the_random_state_alone(small):
    state = torch.get_rng_state()
    small.training_batch(3)
    CLDRNames(("de", "fr"))
    assert torch.equal(torch.get_rng_state(), state)


def test_the_same_in_every_process():
    code = (
        "import torch; from attnkit.tasks import CLDRNames; import hashlib;"
        "t = CLDRNames(('de', 'fr', 'is'));"
        "b = t.training_batch(3);"
        "text = repr((t.train, t.test, t.pairs, t.ambiguous, t.vocabulary.tokens, b[0].tolist()));"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    seen = set()
    for seed in ("0", "1", "4321"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.add(done.stdout)
    assert len(seen) == 1 and len(seen.pop()) == 65


def test_languages_in_another_order_are_the_same_names():
    one, other = CLDRNames(("de", "is", "fr")), CLDRNames(["fr", "de", "is"])
    assert one.train == other.train and one.test == other.test and one.ceiling == other.ceiling
    assert one.vocabulary == other.vocabulary and other.languages == ("fr", "de", "is")


# babel: another version, or none


def fake_babel(monkeypatch, data, *, cldr=None):
    """A babel with other data, such as a future version has."""

    class UnknownLocaleError(Exception):
        pass

    class Locale:
        def __init__(self, code):
            self.territories, self.languages, self.currencies = data[code]
            self.code = code

        @classmethod
        def parse(cls, code):
            if code not in data:
                raise UnknownLocaleError(code)
            return cls(code)

        def get_display_name(self, language):
            return f"{self.code} in {language}"

    package, core = types.ModuleType("babel"), types.ModuleType("babel.core")
    package.Locale, package.UnknownLocaleError = Locale, UnknownLocaleError
    package.core, package.__version__ = core, "99.0"
    if cldr:
        core.get_cldr_version = lambda: cldr
    monkeypatch.setitem(sys.modules, "babel", package)
    monkeypatch.setitem(sys.modules, "babel.core", core)


def test_another_version_of_babel_brings_its_own_names(monkeypatch):
    many = {str(i): f"x{i}" for i in range(50)}
    data = {
        "aa": ({"A": "One", "B": "Two", "C": "  Wide \u00a0 name "}, {"x": "One"}, many),
        "bb": ({"A": "One", "B": "Zwo", "C": ""}, {"x": "o\u0301"}, {}),
        "cc": ({"A": "One"}, {"x": "Uno"}, {"E": "Zwo"}),
    }
    fake_babel(monkeypatch, data)
    task = CLDRNames(("aa", "bb", "cc"), test_share=0.5)
    assert task.source == "babel 99.0, CLDR unknown"
    assert task.language_names == ("aa in en", "bb in en", "cc in en")
    # One ×3, Zwo ×2, Two, Wide name, ó, Uno, and fifty
    assert (task.n_pairs, task.n_strings) == (59, 56)
    assert task.ambiguous == {"One": ("aa", "bb", "cc"), "Zwo": ("bb", "cc")}
    assert task.ceiling == 56 / 59
    names = {name for name, _ in task.train + task.test}
    assert {"Two", "Wide name", "ó", "Uno"} < names and "" not in names and len(names) == 54
    fake_babel(monkeypatch, data, cldr="61")
    assert CLDRNames(("aa", "bb"), test_share=0.5).source == "babel 99.0, CLDR 61"


def test_every_language_must_have_names_of_its_own(monkeypatch):
    data = {code: ({"A": "One"}, {}, {}) for code in ("aa", "bb")}
    fake_babel(monkeypatch, data | {"cc": ({"B": "Two"}, {}, {})})
    with pytest.raises(ValueError, match=r"names of its own, got none for \['aa', 'bb'\]"):
        CLDRNames(("cc", "bb", "aa"))
    with pytest.raises(ValueError, match="both parts must have names, got 2 for training and 0"):
        CLDRNames(("cc", "bb"), test_share=1e-9)
    with pytest.raises(ValueError, match="both parts must have names, got 0 for training and 2"):
        CLDRNames(("cc", "bb"), test_share=1 - 1e-9)


def test_without_babel_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "babel", None)
    monkeypatch.delitem(sys.modules, "babel.core", raising=False)
    with pytest.raises(ModuleNotFoundError, match="pip install babel"):
        CLDRNames()


def test_importing_the_tasks_does_not_import_babel():
    code = "import sys, attnkit, attnkit.tasks; print('babel' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("languages", [("zh", "ja"), ("zh-Hant", "pt_PT"), ("hi", "ar")])
def test_other_scripts_and_regions(languages):
    task = CLDRNames(languages)
    assert {code for _, code in task.train} == set(languages) == {code for _, code in task.test}
    assert not {alike(name) for name, _ in task.train} & {alike(name) for name, _ in task.test}


# Bad input


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"languages": "de"}, TypeError, r"languages must be a sequence of str, got 'de'. One is"),
        ({"languages": {"de", "fr"}}, TypeError, "languages must be a sequence of str"),
        ({"languages": 3}, TypeError, "languages must be a sequence of str, got 3"),
        ({"languages": ("de", 3)}, TypeError, "got 3 in it"),
        ({"languages": ("de",)}, ValueError, "at least two codes"),
        ({"languages": ()}, ValueError, "at least two codes"),
        ({"languages": ("de", "fr", "de")}, ValueError, "languages must differ, got 'de' twice"),
        ({"languages": ("de", "xx")}, ValueError, "codes that babel has data for.*'xx'"),
        ({"languages": ("de", "")}, ValueError, "codes that babel has data for.*''"),
        ({"languages": ("de", "../x")}, ValueError, "codes that babel has data for"),
        ({"kinds": "currencies"}, TypeError, "kinds must be a sequence of str"),
        ({"kinds": ()}, ValueError, "kinds must be some of 'territories'"),
        ({"kinds": ("rivers",)}, ValueError, r"kinds must be some of .* got \['rivers'\]"),
        ({"test_share": 0.0}, ValueError, "test_share must be between 0 and 1, got 0"),
        ({"test_share": 1}, ValueError, "test_share must be between 0 and 1"),
        ({"test_share": "all"}, TypeError, "test_share must be a number"),
        ({"seed": -1}, ValueError, "seed must be at least 0"),
        ({"seed": 0.5}, TypeError, "seed must be an integer"),
    ],
)
def test_bad_tasks(arguments, error, words):
    with pytest.raises(error, match=words):
        CLDRNames(**arguments)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda t: t.batch([]), ValueError, "at least one name"),
        (lambda t: t.batch("Mali"), TypeError, "must be pairs of name and code"),
        (lambda t: t.batch(["Mali"]), TypeError, r"got 'Mali'.*task\.encode"),
        (lambda t: t.batch(["de"]), TypeError, r"must be pairs of name and code, got 'de'"),
        (lambda t: t.batch([("Mali", "xx")]), ValueError, "code of 'Mali' must be one of de fr is"),
        (lambda t: t.batch([("Mali", ["de"])]), ValueError, "code of 'Mali' must be one of"),
        (lambda t: t.batch([(3, "de")]), TypeError, "name must be a str, got 3"),
        (lambda t: t.batch(iter([("Mali", "de")])), TypeError, "must be pairs"),
        (lambda t: t.encode("Mali"), TypeError, r"One is \[name\]"),
        (lambda t: t.encode([]), ValueError, "at least one name"),
        (lambda t: t.encode([None]), TypeError, "name must be a str, got None"),
        (lambda t: t.is_test(3), TypeError, "name must be a str"),
        (lambda t: t.training_batch(0.5), TypeError, "step must be an integer"),
        (lambda t: t.training_batch(-1), ValueError, "step must be at least 0"),
        (lambda t: t.training_batch(0, 0), ValueError, "size must be at least 1"),
        (lambda t: t.training_batch(0, seed=-1), ValueError, "seed must be at least 0"),
    ],
)
def test_bad_names(small, call, error, words):
    with pytest.raises(error, match=words):
        call(small)


def test_repr_names_the_task(small):
    assert repr(small) == "CLDRNames(de fr is; territories; test_share=0.2, seed=0)"
