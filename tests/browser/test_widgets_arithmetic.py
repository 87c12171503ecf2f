"""The browser's arithmetic is PyTorch's: to 1e-6, over hundreds of random settings."""

import base64
import math
import random

import matplotlib
import pytest
import torch
from widget_page import WidgetPage, load_functions, load_module, unfold

from attnkit.widgets import ScalingWidget, TemperatureWidget, assets, measures, ratios, tables
from attnkit.widgets.pairs import decode, encode, packed

TOLERANCE = 1e-6


@pytest.fixture(scope="module")
def core(browser):
    """A page with core.js on it: core("softmax", …) calls one of its functions."""
    page = browser.new_page()
    load_module(page, (assets.HERE / "core.js").read_text(encoding="utf-8"), "core")

    def call(name, rows):
        """The function applied to each row of arguments, in one trip to the browser."""
        script = "([name, rows]) => rows.map((row) => { const r = core[name](...row);"
        script += " return ArrayBuffer.isView(r) ? Array.from(r) : r; })"
        return page.evaluate(script, [name, rows])

    yield call
    page.close()


def settings(count=400):
    """Random rows: 1 to 64 scores, small to ±1e4, temperatures 1e-6 to 1e6, masks of all kinds."""
    rng = random.Random(20)
    rows = []
    for i in range(count):
        n = rng.choice([1, 2, 3, 7, 31, 64])
        size = 10 ** rng.uniform(-3, 4)
        scores = [rng.choice([-size, size, rng.gauss(0, size), rng.gauss(0, 1)]) for _ in range(n)]
        temperature = 10 ** rng.uniform(-6, 6) if i % 2 else 10 ** rng.uniform(-1.3, 1)
        mask = rng.choice([None, [rng.random() < 0.5 for _ in range(n)], [False] * n, [True] * n])
        rows.append([scores, temperature, mask])
    return rows


def reference(scores, temperature, mask):
    """Softmax by PyTorch in float64; zeros where nothing is allowed."""
    scores = torch.tensor(scores, dtype=torch.float64)
    if mask is None:
        mask = [True] * len(scores)
    allowed = torch.tensor(mask)
    weights = torch.zeros_like(scores)
    if allowed.any():
        weights[allowed] = torch.softmax(scores[allowed] / temperature, -1)
    return weights


@pytest.fixture(scope="module")
def rows():
    return [reference(*setting) for setting in settings()]


def largest_gap(found, expected):
    assert len(found) == len(expected)
    return max(
        (torch.tensor(a, dtype=torch.float64) - torch.as_tensor(b)).abs().max().item()
        for a, b in zip(found, expected, strict=True)
    )


def test_softmax(core, rows):
    assert any(row.sum() == 0 for row in rows) and any(len(row) == 1 for row in rows)
    assert largest_gap(core("softmax", settings()), rows) < TOLERANCE


def test_softmax_beyond_what_a_division_could_hold(core):
    found = core("softmax", [[[1e308, -1e308, 1e308], 1e-300, None], [[1e4, -1e4], 1e-9, None]])
    assert found == [[0.5, 0, 0.5], [1, 0]]


def test_entropy(core, rows):
    arguments = [[row.tolist()] for row in rows]
    assert largest_gap(core("entropy", arguments), [measures.entropy(r) for r in rows]) < TOLERANCE
    counts = [len(row) for row in rows]
    found = core("normalizedEntropy", [[r.tolist(), n] for r, n in zip(rows, counts, strict=True)])
    for value, row, n in zip(found, rows, counts, strict=True):
        if n < 2:
            assert math.isnan(value)
        else:
            assert value == pytest.approx(measures.entropy(row) / math.log(n), abs=TOLERANCE)


def test_jacobian_norm(core, rows):
    found = core("jacobianNorm", [[row.tolist()] for row in rows])
    assert largest_gap(found, [measures.jacobian_norm(row) for row in rows]) < TOLERANCE
    # Where PyTorch's matrix rounds to zero, the closed form still has its digits.
    tiny = [1 - 1e-12, 1e-12]
    assert core("jacobianNorm", [[tiny]])[0] == pytest.approx(2e-12, rel=1e-3)


def test_slopes_are_autograds(core, rows):
    arguments, expected = [], []
    for (scores, temperature, mask), row in zip(settings(), rows, strict=True):
        if mask is None and len(scores) > 1:
            inputs = torch.tensor(scores, dtype=torch.float64)
            jacobian = torch.autograd.functional.jacobian(
                lambda s, t=temperature: torch.softmax(s / t, -1), inputs
            )
            arguments.append([row.tolist(), temperature])
            expected.append(jacobian.diagonal() * temperature)
    found = core("softmaxSlopes", arguments)
    assert len(found) > 60
    for got, want, (_, temperature) in zip(found, expected, arguments, strict=True):
        assert torch.tensor(got).double() * temperature == pytest.approx(want, abs=TOLERANCE)
    # Where 1 − w rounds to zero, the slope still has its digits.
    (slope, _) = core("softmaxSlopes", [[[1.0, 1e-30], 0.5]])[0]
    assert slope == pytest.approx(2e-30, rel=1e-9, abs=0)


def ratio_settings(count=400):
    rng = random.Random(31)
    sizes = [0.0, 1e-300, 0.05, 0.1, 1.0, 80.0]
    rows = [
        [rng.choice([0.0, 1.0, rng.gauss(0, 5)]), rng.choice([0.0, 1.0, rng.gauss(0, 5)]),
         rng.choice([*sizes, rng.random()]), rng.choice([*sizes, rng.random()])]
        for _ in range(count)
    ]  # fmt: skip
    return [
        *rows,
        [1e308, -1e308, 1.0, 1.0 - 1e-16],
        [1e308, -1e308, 2.0, 1.0],
        [1, 0, 1e308, 1e-308],
    ]


def test_the_temperature_of_a_ratio(core):
    found = core("ratioTemperature", ratio_settings())
    kinds = set()
    for setting, got in zip(ratio_settings(), found, strict=True):
        score_a, score_b, a, b = setting
        expected = ratios.ratio_temperature(*setting)
        kinds.add(expected.kind)
        assert got["kind"] == expected.kind, setting
        if expected.kind == "one":
            assert got["temperature"] == pytest.approx(expected.temperature, rel=1e-12)
            # Softmax itself at that temperature gives the ratio.
            scores = torch.tensor([score_a, score_b], dtype=torch.float64)
            logs = torch.log_softmax((scores - scores.max()) / expected.temperature, -1)
            wanted = math.log(a) - math.log(b)
            assert float(logs[0] - logs[1]) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert kinds == {"one", "any", "zero", "infinite", "none", "undefined"}


def test_pairs_and_their_common_temperature(browser):
    page = browser.new_page()
    load_functions(page, "temperature", "wantedPairs", "commonTemperature")
    rng = random.Random(5)
    cases = []
    for i in range(300):
        n = rng.randint(2, 12)
        scores = [rng.choice([0.0, 2.0, rng.gauss(0, 3)]) for _ in range(n)]
        wanted = [rng.choice([0.0, 1.0, rng.random()]) for _ in range(n - 1)] + [1.0]
        if i % 3 == 0:  # what a temperature really gives
            temperature = 10 ** rng.uniform(-0.3, 1)
            wanted = measures.softmax_row(torch.tensor(scores).double(), temperature).tolist()
        if i % 7 == 0:  # the limit
            wanted = [float(score == max(scores)) for score in scores]
        cases.append([scores, wanted])
    script = "(rows) => rows.map((row) => { const p = own.wantedPairs(...row);"
    script += " return [p, own.commonTemperature(p)]; })"
    kinds = []
    for (scores, wanted), (pairs, common) in zip(cases, page.evaluate(script, cases), strict=True):
        expected = ratios.wanted_pairs(scores, wanted)
        assert [(p["first"], p["second"], p["kind"]) for p in pairs] == [p[:3] for p in expected]
        answer = ratios.common_temperature(expected)
        assert common["kind"] == answer.kind
        if answer.kind == "one":
            assert common["temperature"] == pytest.approx(answer.temperature, rel=1e-9)
        kinds.append(answer.kind)
    assert {"one", "zero", "none"} <= set(kinds) and kinds.count("one") > 40
    page.close()


def test_normal_density(core):
    rng = random.Random(3)
    arguments = [[rng.gauss(0, 40), 10 ** rng.uniform(-1, 2)] for _ in range(300)]
    expected = [
        math.exp(torch.distributions.Normal(0.0, s).log_prob(torch.tensor(x).double()).item())
        for x, s in arguments
    ]
    found = core("normalDensity", arguments)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_tables_are_decoded_to_the_last_bit(core):
    special = torch.tensor([0.0, -0.0, 6e-8, 1e-5, 1.0, -2.5, 65504.0, math.inf, -math.inf])
    values = torch.cat([special, torch.randn(500, generator=torch.Generator().manual_seed(2))])
    (found,) = core("decodeFloat16", [[tables.pack_float16(values)]])
    assert found == values.half().tolist()
    (nan,) = core("decodeFloat16", [[tables.pack_float16(torch.tensor([math.nan]))]])
    assert math.isnan(nan[0])
    octets = bytes(range(256))
    assert core("decodeUint8", [[base64.b64encode(octets).decode()]])[0] == list(octets)
    vectors = tables.score_tables(0).queries
    (digits,) = core("decodeDigits", [[tables.pack_digits(vectors)]])
    assert [(d - 32) / 8 for d in digits] == vectors.flatten().tolist()


def test_texts(core):
    weights = [0.0, 1.0, 4e-4, 0.0005, 0.5, 0.9994, 0.9996, 1e-30, 0.0156]
    assert core("percent", [[w] for w in weights]) == [measures.percent(w) for w in weights]
    shown = core("number", [[-1.5], [1234.5678], [0.00001234], [-2e7], [0], [1e400], [0.5, 1]])
    assert shown == ["−1.5", "1230", "1.23e−5", "−2.00e7", "0", "∞", "0.5"]
    labels = ["", " a", "b ", "a\nb", "a\tb", "a b", "<i>"]
    assert core("visible", [[text] for text in labels]) == [
        "(empty)", "␣a", "b␣", "a⏎b", "a⇥b", "a b", "<i>",
    ]  # fmt: skip
    assert core("languageOf", [["中国"], ["China"], ["日本の"]]) == ["zh-Hans", "", ""]


def texts(page, selector):
    return page.eval_on_selector_all(selector, "(nodes) => nodes.map((node) => node.textContent)")


def test_scores_of_the_page_are_those_of_python(browser):
    """The widget itself, read back from its table at 24 random settings of all its traits."""
    page = browser.new_page()
    board = WidgetPage(page)
    widget = ScalingWidget(revealed=True)
    view = board.mount(widget)
    unfold(view.locator("summary"))
    rng = random.Random(8)
    for _ in range(24):
        widget.d_k = rng.choice([1, 2, 1024, rng.randint(1, 1024)])
        widget.scale = rng.random() < 0.5
        widget.temperature = round(10 ** rng.uniform(-1.3, 1), 3)
        widget.sample = rng.randrange(8)
        board.set_all({t: getattr(widget, t) for t in ("d_k", "scale", "temperature", "sample")})
        cells = texts(page, "tbody td")
        scores = [float(text.replace("−", "-")) for text in cells[::2]]
        assert scores == pytest.approx(widget.scores().tolist(), rel=5e-4, abs=5e-5)
        assert cells[1::2] == [measures.percent(w) for w in widget.weights().tolist()]
        values = texts(page, ".aw-value")
        measured = widget.measure()
        assert float(values[0]) == pytest.approx(measured["spread"], rel=6e-3)
        assert values[1] == measures.percent(measured["largest_weight"])
        assert values[2] == f"{measured['entropy']:.2f} nats"
        assert float(values[3].replace("−", "-")) == pytest.approx(
            measured["jacobian_norm"], rel=0.06, abs=1e-15
        )
    assert board.errors == []
    page.close()


def test_weights_and_slopes_of_the_page_are_those_of_python(browser):
    page = browser.new_page()
    board = WidgetPage(page)
    widget = TemperatureWidget([0.05, 0.1, 5.8, -3.0])
    board.mount(widget)
    rng = random.Random(9)
    for _ in range(12):
        widget.temperature = round(10 ** rng.uniform(-1.3, 1), 3)
        board.set("temperature", widget.temperature)
        weights = texts(page, ".aw-weight-cell")
        assert weights == [measures.percent(w) for w in widget.weights().tolist()]
        slopes = [float(t.replace("−", "-")) for t in texts(page, ".aw-tokens td:nth-child(3)")]
        assert slopes == pytest.approx(widget.slopes().tolist(), rel=0.06)
    assert board.errors == []
    page.close()


def test_weights_of_one_byte_are_those_of_python(core):
    generator = torch.Generator().manual_seed(6)
    for n in (1, 2, 23, 64):
        given = torch.softmax(5 * torch.randn(17, n, generator=generator).double(), -1)
        codes = encode(given)
        (found,) = core("decodeWeights", [[packed(codes), n]])
        torch.testing.assert_close(
            torch.tensor(found, dtype=torch.float64), decode(codes), rtol=1e-12, atol=0
        )


def test_whole_percents(core):
    weights = [0.0, 1.0, 1e-30, 0.00499, 0.005, 0.015, 0.125, 0.625, 0.9949, 0.995, 1 - 1e-16]
    weights += [i / 997 for i in range(998)]
    expected = [measures.whole_percent(w) for w in weights]
    assert core("wholePercent", [[w] for w in weights]) == expected
    assert "0 %" not in expected[2:11] and "100 %" not in expected[2:11]


def test_the_colour_scale_is_cividis_and_can_be_written_on(core):
    weights = torch.linspace(0, 1, 256).tolist()
    theirs = 255 * torch.tensor(matplotlib.colormaps["cividis"].colors)
    ours = torch.tensor(core("weightColour", [[w] for w in weights]))
    assert (ours - theirs).abs().max() < 6.5  # of 255, where the scale bends
    assert (ours - theirs).abs().mean() < 0.5
    linear = torch.where(
        ours / 255 <= 0.04045, ours / 255 / 12.92, ((ours / 255 + 0.055) / 1.055) ** 2.4
    )
    light = linear @ torch.tensor([0.2126, 0.7152, 0.0722])
    for ground, ink in zip(light.tolist(), core("inkOn", [[w] for w in weights]), strict=True):
        high, low = (1.0, ground) if ink == "#fff" else (ground, 0.0)
        assert (high + 0.05) / (low + 0.05) >= 4.5
    assert (light[8:] > light[:-8]).all()  # more weight, more light
