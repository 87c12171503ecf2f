"""The game in a browser: its clock (never waited for), answers, focus, what is said."""

import re

import pytest
from playwright.sync_api import expect
from widget_page import WidgetPage, unfold

from attnkit.widgets import BottleneckGame, assets

CURVES = {
    "fixed vector": {4: (1.0, 0.9, 1.0), 8: (0.6, 0.5, 0.7), 12: (0.0, 0.0, 0.1)},
    "attention": {4: (1.0, 1.0, 1.0), 8: (1.0, 0.9, 1.0), 12: (0.9, 0.8, 1.0)},
}
SPACE = "\u202f"


LINKS = """() => {
  const link = (textContent) =>
    Object.assign(document.createElement("a"), { href: "#", textContent });
  document.querySelector("main").prepend(link("before"));
  document.querySelector("main").append(link("after"));
}"""


class Game:
    """A game on a page whose clock the test turns; by itself it runs as all clocks do, and a slow
    machine must have half a minute between two presses."""

    def __init__(self, page, **traits):
        page.clock.install()
        self.page = page
        self.board = WidgetPage(page)
        self.view = self.board.mount(BottleneckGame(CURVES, **traits))
        self.live = self.view.locator("[aria-live=polite]")
        self.number = self.view.locator(".aw-number-digits")
        self.field = self.view.get_by_role("textbox")

    def button(self, name):
        return self.view.get_by_role("button", name=name, exact=True)

    def press(self, *names):
        for name in names:
            self.button(name).click()

    def shown(self):
        """The digits on the screen."""
        return re.sub(r"\D", "", self.number.text_content())

    def pass_time(self, seconds):
        self.page.clock.fast_forward(int(1000 * seconds))

    def answer(self, text):
        self.field.fill(text)
        self.field.press("Enter")

    def play(self, change=lambda digits: digits):
        """One round from the number to the verdict; returns the number."""
        digits = self.shown()
        if self.button("Hide now").is_visible():
            self.press("Hide now")
        self.answer(change(digits))
        return digits

    @property
    def rounds(self):
        return self.board.get("rounds")


@pytest.fixture
def start(browser):
    pages = []

    def start_(**traits):
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        game = Game(page, **({"lengths": (3, 5), "seconds": 60} | traits))
        pages.append(game)
        return game

    yield start_
    for game in pages:
        assert game.board.errors == []
        game.page.close()


def wrong(digits):
    """The last two digits changed."""
    return digits[:-2] + "".join(str((int(d) + 1) % 10) for d in digits[-2:])


def test_a_whole_game_round_by_round(start):
    game = start(seed=1)
    game.press("Start")
    numbers = [game.play()]
    expect(game.view.locator(".aw-outcome")).to_have_text("Right: all 3 digits.")
    game.press("Next round")
    numbers.append(game.play(wrong))
    expect(game.view.locator(".aw-outcome")).to_have_text(
        "Not right: 3 of 5 digits in their place."
    )
    assert game.view.locator(".aw-slip").count() == 2
    game.press("Next round")
    expect(game.view.locator(".aw-step")).to_have_text("Now with looking allowed")
    game.press("Start looking")
    numbers.append(game.play())
    game.press("Next round")
    numbers.append(game.play())
    game.press("See the result")
    assert [len(n) for n in numbers] == [3, 5, 3, 5]
    assert [(r["looking"], r["asked"], r["right"]) for r in game.rounds] == [
        (False, numbers[0], True),
        (False, numbers[1], False),
        (True, numbers[2], True),
        (True, numbers[3], True),
    ]
    assert game.rounds[1]["digits_right"] == 0.6
    # What the browser counted is what Python counts.
    assert BottleneckGame(CURVES, rounds=game.rounds).rounds == game.rounds
    expect(game.view.locator(".aw-stage")).to_contain_text(
        "From memory: 1 of 2 numbers right, 75.0 % of the digits in their place. "
        "Looking allowed: 2 of 2 numbers right, 100 % of the digits in their place."
    )
    values = game.view.locator(".aw-value")
    assert values.all_inner_texts() == ["1 of 2 right", "2 of 2 right"]


def test_the_clock_hides_the_number_and_only_then(start):
    game = start(seconds=60, seed=2)
    game.press("Start")
    digits = game.shown()
    expect(game.view.locator(".aw-clock")).to_have_text(re.compile(r"Hidden in (60|[345]\d) s"))
    game.pass_time(30)
    expect(game.number).to_be_visible()
    expect(game.view.locator(".aw-clock")).to_have_text(re.compile(r"Hidden in (30|[12]?\d) s"))
    game.pass_time(30.1)
    expect(game.field).to_be_focused()
    expect(game.number).to_have_count(0)
    page_text = game.view.evaluate("(node) => node.outerHTML")
    assert digits not in page_text and " ".join(digits) not in page_text


def test_the_clock_can_be_stopped_lengthened_and_switched_off(start):
    game = start(seconds=60)
    game.press("Start", "Stop the clock")
    game.pass_time(600)
    expect(game.number).to_be_visible()
    expect(game.button("Hide now")).to_be_focused()
    game.press("Hide now")
    expect(game.field).to_be_visible()
    game.press("Stop the game", "Start over")
    seconds = game.view.get_by_label("Seconds to look, exact value")
    seconds.fill("50")
    seconds.press("Enter")
    assert game.board.get("seconds") == 50
    game.press("Start")
    game.pass_time(20)
    expect(game.number).to_be_visible()
    game.pass_time(30.1)
    expect(game.number).to_have_count(0)
    game.press("Stop the game", "Start over")
    game.view.get_by_label("No clock: until I press Hide").check()
    assert game.board.get("seconds") is None
    expect(seconds).to_be_disabled()
    game.press("Start")
    expect(game.button("Stop the clock")).to_be_hidden()
    game.pass_time(3600)
    expect(game.number).to_be_visible()


def test_an_earlier_clock_does_not_hide_a_later_number(start):
    game = start(seconds=60)
    game.press("Start")
    game.pass_time(35)
    game.play()
    game.press("Next round")
    game.pass_time(30)
    expect(game.number).to_be_visible()
    game.pass_time(30.1)
    expect(game.number).to_have_count(0)


def test_looking_is_allowed_in_the_second_half(start):
    game = start(lengths=(4,), seconds=60)
    game.press("Start", "Hide now", "Skip this round", "Start looking")
    digits = game.shown()
    game.pass_time(600)
    game.field.fill(digits[:2])
    assert game.shown() == digits
    game.field.fill(digits)
    game.press("Check")
    assert [(r["looking"], r["right"]) for r in game.rounds] == [(True, True)]


@pytest.mark.parametrize(
    "write",
    [
        lambda d: d,
        lambda d: f" {d[:2]} {d[2:]} ",
        lambda d: f"{d[:3]},{d[3:6]},{d[6:]}",
        lambda d: "".join(chr(0xFF10 + int(c)) for c in d),  # full-width, as an IME types them
        lambda d: f"{d[:4]}\u3000{d[4:]}",
        lambda d: f"{d[:3]}，{d[3:]}",
        lambda d: f"{d[:3]}{SPACE}{d[3:]}".replace(SPACE, "\u00a0"),
        lambda d: f"{d[:3]}.{d[3:]}",
    ],
)
def test_every_way_of_writing_digits_counts(start, write):
    game = start(lengths=(8,), seed=5)
    game.press("Start")
    digits = game.play(write)
    assert game.rounds[0] | {"length": 8} == {
        "looking": False, "length": 8, "asked": digits, "typed": digits, "right": True,
        "digits_right": 1,
    }  # fmt: skip


def test_what_is_no_number_is_asked_for_again_and_not_counted(start):
    game = start()
    game.press("Start", "Hide now")
    for text, says in [
        ("", "Type the digits"),
        ("12a", "Only digits count"),
        ("一二", "Only digits"),
    ]:
        game.answer(text)
        expect(game.view.locator(".aw-error")).to_contain_text(says)
        expect(game.field).to_have_attribute("aria-invalid", "true")
        expect(game.field).to_be_focused()
        game.pass_time(1)
        expect(game.live).to_contain_text(says)
    assert game.rounds == []
    game.answer("0")
    assert len(game.rounds) == 1 and game.rounds[0]["right"] is False


def test_one_digit_too_many_is_not_right(start):
    game = start()
    game.press("Start")
    game.play(lambda digits: digits + "0")
    assert game.rounds[0]["right"] is False and game.rounds[0]["digits_right"] == 1


# ------------------------------------------------------------------ focus, and what is said


def test_the_focus_goes_along_and_nobody_is_trapped(start):
    game = start()
    game.press("Start")
    expect(game.view.locator(".aw-number")).to_be_focused()
    game.press("Hide now")
    expect(game.field).to_be_focused()
    game.answer("1")
    expect(game.button("Next round")).to_be_focused()
    game.page.keyboard.press("Enter")
    expect(game.view.locator(".aw-number")).to_be_focused()
    game.press("Stop the game")
    expect(game.button("Go on")).to_be_focused()
    game.press("Start over")
    expect(game.button("Start")).to_be_focused()
    # Tab leaves the widget from every step, in both directions.
    game.page.evaluate(LINKS)
    for steps in (["Start"], ["Hide now"], ["Skip this round"], ["Stop the game"]):
        game.press(*steps)
        for key, name in [("Tab", "after"), ("Shift+Tab", "before")]:
            link = game.page.get_by_role("link", name=name)
            for _ in range(12):
                game.page.keyboard.press(key)
                if link.evaluate("(node) => node === document.activeElement"):
                    break
            expect(link).to_be_focused()


def test_a_reader_who_is_elsewhere_keeps_the_focus(start):
    game = start(seconds=30)
    game.page.evaluate(LINKS)
    game.press("Start")
    link = game.page.get_by_role("link", name="before")
    link.focus()
    game.pass_time(31)
    expect(game.field).to_be_visible()
    expect(link).to_be_focused()


def test_nothing_takes_the_focus_at_the_start(start):
    game = start()
    assert game.page.evaluate("document.activeElement === document.body")


def test_a_key_held_down_does_not_run_through_the_game(start):
    game = start()
    game.press("Start", "Hide now")
    game.field.fill("1")
    game.page.keyboard.down("Enter")
    for _ in range(5):
        game.page.keyboard.down("Enter")  # held: repeats
    game.page.keyboard.up("Enter")
    expect(game.view.locator(".aw-outcome")).to_be_visible()
    assert len(game.rounds) == 1


def test_the_hidden_number_is_never_said_again(start):
    game = start(seconds=45, seed=4)
    said = []
    game.page.expose_function("said", lambda text: said.append(text))
    game.live.evaluate(
        """(node) => new MutationObserver(() => said(node.textContent))
             .observe(node, { childList: true, characterData: true, subtree: true })"""
    )
    game.press("Start")
    digits = game.shown()
    # For the ear the number is there once, digit by digit, where the focus is.
    assert game.view.locator(".aw-number .aw-hidden").text_content() == " ".join(digits)
    game.pass_time(1)
    expect(game.live).to_have_text(
        "Round 1 of 2 · 3 digits, from memory. The number is shown for 45 seconds."
    )
    game.pass_time(45)
    game.pass_time(1)
    expect(game.live).to_have_text("Hidden. Type the 3 digits.")
    game.answer(digits)
    game.pass_time(1)
    expect(game.live).to_have_text("Right: all 3 digits.")
    spoken = re.sub(r"\D", "", " ".join(said))
    assert len(said) >= 3 and digits not in spoken


# ------------------------------------------------------------------ curves


def test_the_curves_wait_for_the_first_round(start):
    game = start()
    curves = game.view.locator(".aw-models path")
    assert curves.count() == 0
    expect(game.view.locator(".aw-later")).to_be_visible()
    expect(game.view.get_by_text("The curves as a table")).to_be_hidden()
    game.press("Start")
    game.play()
    assert curves.count() == 4 and game.board.get("revealed") is True
    expect(game.view.locator(".aw-later")).to_be_hidden()


def test_everything_can_be_skipped(start):
    game = start()
    game.press("Show me the models’ curves")
    assert game.view.locator(".aw-models path").count() == 4
    assert game.rounds == []
    game.pass_time(1)
    expect(game.live).to_have_text(
        "The models’ curves are drawn; the table below has their numbers."
    )
    unfold(game.view.get_by_text("The curves as a table"))
    rows = game.view.locator("details").first.locator("tbody tr").all_inner_texts()
    assert rows[0].split("\t") == ["4", "fixed vector", "100 %", "90.0 % to 100 %"]
    assert len(rows) == 6


def points(game, kind):
    """The reader's points: (place from the left, share)."""
    path = game.view.locator(f"svg .aw-you-dots.aw-{kind}").first.get_attribute("d") or ""
    found = re.findall(r"M([\d.]+) ([\d.]+)", path)
    return [(float(x), round((1 - float(y) / 1000 - 0.06) / 0.87, 2)) for x, y in found]


def test_the_reader_s_points_are_drawn_as_they_come(start):
    game = start(lengths=(4, 8))
    game.press("Start")
    game.play()
    assert [share for _, share in points(game, "memory")] == [1]
    game.press("Next round")
    game.play(wrong)
    assert [share for _, share in points(game, "memory")] == [1, 0]
    assert points(game, "looking") == []
    # They stand over the lengths of the axis.
    ticks = game.view.locator(".aw-game-plot .aw-tick-x")
    for (x, _), name in zip(points(game, "memory"), ["4", "8"], strict=True):
        place = ticks.filter(has_text=re.compile(f"^{name}$")).evaluate("(n) => n.style.left")
        assert float(place.rstrip("%")) == pytest.approx(x / 10, abs=0.1)


def test_playing_again_makes_shares_and_starting_over_forgets(start):
    game = start(lengths=(4,))
    for change in (lambda d: d, wrong):
        game.press("Start" if change is not wrong else "Play again")
        game.play(change)
        game.press("Next round", "Start looking")
        game.play()
        game.press("See the result")
    assert [share for _, share in points(game, "memory")] == [0.5]
    assert len(game.rounds) == 4
    game.press("Start over")
    assert game.rounds == [] and points(game, "memory") == [] and points(game, "looking") == []
    assert game.view.locator(".aw-models path").count() == 0


def test_stopping_keeps_what_was_done_and_goes_on_with_a_new_number(start):
    game = start(lengths=(4, 6))
    game.press("Start")
    game.play()
    game.press("Next round")
    before = game.shown()
    game.press("Stop the game", "Go on")
    assert len(game.shown()) == 6 and game.shown() != before
    assert len(game.rounds) == 1


def test_rounds_can_be_skipped(start):
    game = start(lengths=(4, 6))
    game.press("Start", "Hide now", "Skip this round")
    assert len(game.shown()) == 6
    game.press("Hide now", "Skip this round")
    expect(game.view.locator(".aw-step")).to_have_text("Now with looking allowed")
    assert game.rounds == []


# ------------------------------------------------------------------ Python, numbers, storage


def test_python_sets_rounds_lengths_and_curves(start):
    game = start()
    rounds = [{"looking": True, "asked": "4711", "typed": "4717"}]
    game.board.set("rounds", BottleneckGame(CURVES, rounds=rounds).rounds)
    assert [share for _, share in points(game, "looking")] == [0]
    expect(game.view.locator(".aw-value").last).to_have_text("0 of 1 right")
    game.press("Start")
    game.board.set("lengths", [7])
    game.page.clock.run_for(50)
    expect(game.button("Start")).to_be_visible()
    game.press("Start")
    assert len(game.shown()) == 7
    game.board.set("revealed", True)
    game.board.set("accuracy", [["only", [[7, 0.5, 0.25, 1.0]]]])
    assert game.view.locator(".aw-models path").count() == 2


def test_a_seed_repeats_the_numbers_and_none_does_not(start):
    def numbers(**traits):
        game = start(lengths=(15,), **traits)
        game.press("Start")
        return game.shown()

    assert numbers(seed=11) == numbers(seed=11) != numbers(seed=12)
    assert numbers() != numbers()  # 15 digits: the same twice in 10¹⁴ tries


def test_numbers_are_of_all_digits_and_never_begin_with_zero(browser):
    page = browser.new_page()
    source = assets.esm("bottleneck") + "\nexport { draw, randomSource };"
    drawn = page.evaluate(
        """async (source) => {
             const blob = new Blob([source], { type: "text/javascript" });
             const own = await import(URL.createObjectURL(blob));
             const seeded = Array.from({ length: 400 }, (_, s) => own.draw(8, own.randomSource(s)));
             const free = own.randomSource(null);
             return [seeded, Array.from({ length: 400 }, () => own.draw(8, free))];
           }""",
        source,
    )
    page.close()
    for numbers in drawn:
        assert len(set(numbers)) == 400 and all(re.fullmatch(r"[1-9]\d{7}", n) for n in numbers)
        first = [sum(n[0] == d for n in numbers) for d in "123456789"]
        rest = [sum(n[1:].count(d) for n in numbers) for d in "0123456789"]
        assert min(first) > 20 and max(first) < 75  # 44 expected, sd 6.3
        assert min(rest) > 210 and max(rest) < 350  # 280 expected, sd 16


def test_nothing_is_stored_or_sent(start):
    game = start()
    requests = []
    game.page.on("request", lambda request: requests.append(request.url))
    game.press("Start")
    game.play()
    assert requests == []
    assert game.page.context.cookies() == []
    source = BottleneckGame._esm
    for name in ("localStorage", "sessionStorage", "indexedDB", "fetch(", "cookie", "caches"):
        assert name not in source


def test_the_number_fits_a_phone(browser):
    page = browser.new_page(viewport={"width": 320, "height": 640})
    game = Game(page, lengths=(15,), seconds=None)
    game.press("Start")
    for selector in (".aw-number-digits", ".aw-compare dd"):
        box = game.view.locator(selector).first.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 320
        assert page.evaluate("document.documentElement.scrollWidth") == 320
        if selector == ".aw-number-digits":
            game.play(wrong)
    assert game.board.errors == []
    page.close()
