"""What a number depends on is found by moving it: each kind on a page where it is known."""

import pytest
from verify_course import HEADER, SET_UP, cell

from attnkit.verify.pages import Source
from attnkit.verify.record import Glued, Printed, Shown
from attnkit.verify.source import read
from experiments import varied
from experiments.flow import behind, follow
from experiments.printed import classify

RECORD = "ch3-scaling.json"
PAGE = (
    f"{HEADER}\n# Kinds\n\n{SET_UP}\n"
    + cell(
        "from time import perf_counter, sleep\n"
        f"path = files('attnkit').joinpath('data/{RECORD}')\n"
        "runs = json.loads(path.read_text('utf-8'))['runs']\n"
        "run = runs['scaled d_k 512']\n"
        "glue('read', run['accuracy'][0][0])\n"
        "glue('mean', sum(run['accuracy'][0]) / 4)\n"
        "glue('count', len(run['accuracy']))\n"
        "glue('step', run['steps'][2] + 1)\n"
        "rows = []\n"
        "for name in runs:\n"
        "    rows.append(name)\n"
        "glue('name', rows[0])",
        "remove-cell",
    )
    + cell(
        "torch.manual_seed(0)\n"
        "x = torch.randn(64, 3)\n"
        "glue('fresh', x.mean().item())\n"
        "glue('whole', 3 * 4)\n"
        "model = torch.nn.Linear(3, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\n"
        "for _ in range(5):\n"
        "    loss = (model(x) - x[:, :1]).square().mean()\n"
        "    optimizer.zero_grad()\n"
        "    loss.backward()\n"
        "    optimizer.step()\n"
        "glue('loss', loss.item())\n"
        "start = perf_counter()\n"
        "sleep(0.1)\n"  # longer than a busy machine adds, by far less than the clock's factor
        "middle = perf_counter()\n"
        "sleep(0.1)\n"
        "seconds = middle - start, perf_counter() - middle\n"
        "glue('seconds', seconds[0])\n"
        "glue('ratio', seconds[0] / seconds[1])",
        "remove-cell",
    )
    + cell("print(run['accuracy'][0][1], 12, round(loss.item(), 3))")
)
WANTED = {
    "read": "recorded",
    "mean": "recorded",
    "count": "recorded",
    "step": "recorded",
    "name": "recorded",
    "fresh": "exact",
    "whole": "exact",
    "loss": "trained",
    "seconds": "clock",
    "ratio": "time",
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    """The page in all variations but `other`, which moves nothing here."""
    folder = tmp_path_factory.mktemp("kinds")
    file = folder / "01-kinds.md"
    file.write_text(PAGE, "utf-8")
    source = Source(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(varied, "FOLDER", folder / "varied")
        plain = varied.run(source, "plain")
        names = varied.wanted(source)
        runs = {name: varied.run(source, name) for name in names if name != "other"}
    assert names == ["plain", "records", "counts", "clock", "kick", "other"]
    assert not plain.raised and not plain.failed
    printed = Printed("Kinds", source.page.digest)
    printed.glued = {name: Glued(value, [""]) for name, value in plain.glued.items()}
    (output,) = plain.outputs
    printed.shown = [Shown(output.cell, output.part, output.text, "")]
    classify(source, printed, runs, frozenset({RECORD}))
    return printed


@pytest.mark.parametrize("name", WANTED)
def test_a_value_has_the_kind_of_what_moves_it(kinds, name):
    assert kinds.glued[name].kind == WANTED[name]
    assert (kinds.glued[name].records == [RECORD]) is (WANTED[name] == "recorded")


def test_each_number_of_an_output_has_its_own_kind(kinds):
    # 12 is written in the cell, but the cell prints of a record, and nothing could have moved it
    assert kinds.shown[0].kinds == ["recorded", "recorded", "trained"]


def test_flow_follows_names_loops_functions_and_unpacking():
    page = read(
        HEADER
        + cell(
            f"data = load('{RECORD}')\n"
            "clean, read = 1, data['x']\n"
            "def of(name):\n    return data[name]\n"
            "for row in data:\n    kept = row\n"
            "table = {}\n"
            "table['a'] = of('b')\n"
            "glue('clean', clean)\nglue('read', read)\nglue('of', of(1))\nglue('kept', kept)\n"
            "glue('table', table)\n"
            "read = 3\n"
            "glue('again', read)\n"
            "for n in data:\n    glue(f'each-{n}', n)\n"
            "glue('each-own', 4)"
        )
    )
    glued, _ = follow(page, frozenset({RECORD}))
    found = {name: bool(behind(name, glued)) for name in ("clean", "read", "of", "kept", "table")}
    assert found == {"clean": False} | dict.fromkeys(("read", "of", "kept", "table"), True)
    assert not behind("again", glued) and behind("each-3", glued) and not behind("each-own", glued)
