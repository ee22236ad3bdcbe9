"""What shows the sentences of docs/app.md on the way through and on the pages File, Roles and Risk."""

from __future__ import annotations

from typing import Any

import sdckit as sdc
from app.browsing import PAGES, READY, calm, faults, shown
from app.docs_walk import MARKER, Hand, Script

SCRIPT = Script()
USE = "Use these roles and limits"
SCENARIO: dict[str, Any] = {
    "intruders": {"neighbour": ["age", "job", "sex"]}, "sensitive": ["ill"], "identifiers": ["person"],
    "thresholds": {"k": 3},
}  # fmt: skip


def _scenario(hand: Hand) -> str:
    """The scenario in use, as its file."""
    if hand.page.is_hidden("#roles-save"):
        hand.press("The scenario as a file")
    return hand.take("#roles-save").read_text(encoding="utf-8")


def _use(hand: Hand) -> None:
    """Take what page Roles says into use, and come back to it."""
    hand.press(USE)
    assert shown(hand.page) == "Risk"
    hand.go("roles")


@SCRIPT.step("Six pages, in this order, in English or German; the verdict on your limits stands on top of each.")
def _(hand: Hand) -> None:
    page = hand.page
    ways = [" ".join(text.split()) for text in page.locator("button.way").all_inner_texts()]
    assert ways == [f"{at}{title}" for at, title in enumerate(PAGES.values(), 1)]
    for name in PAGES:
        hand.go(name)
        assert page.is_visible("#verdict_bar")
    for language, title in (("Deutsch", "Mitnehmen"), ("English", "Take away")):
        with page.expect_navigation():
            hand.press(language)
        page.wait_for_selector(READY)
        calm(page)
        assert shown(page) == title


@SCRIPT.step("Back of the browser goes to the page before, and the colours are those of the machine, light or dark.")
def _(hand: Hand) -> None:
    page = hand.page
    hand.go("roles")
    hand.go("risk")
    page.go_back()
    hand.used.append("Back")
    assert shown(page) == "Roles"
    for scheme in ("dark", "light"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function("scheme => document.documentElement.dataset.bsTheme === scheme", arg=scheme)


REACHED = """() => document.activeElement.closest('button, a, summary, input, select')?.outerHTML"""
THERE = """() => [...document.querySelectorAll('button, summary')].filter(
  one => one.checkVisibility() && !one.disabled).map(one => one.outerHTML)"""


@SCRIPT.step("Every button can be reached by the keyboard, and terms with dotted lines tell what they mean.")
def _(hand: Hand) -> None:
    page = hand.page
    buttons, reached = set(page.evaluate(THERE)), set()
    page.evaluate("document.activeElement.blur()")
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate(REACHED))
    assert buttons <= reached, buttons - reached
    term = hand.press("Sampling fraction")
    assert term.query_selector(".means").is_visible()
    look = "one => getComputedStyle(one).textDecorationStyle + getComputedStyle(one).borderBottomStyle"
    assert "dotted" in term.evaluate(look)


@SCRIPT.step("Upload a file, or open the demo.")
def _(hand: Hand) -> None:
    hand.send("#file-upload", hand.files["people"])
    hand.reads("people.csv", place="#file-facts")


SCRIPT.elsewhere(
    "tests/app/test_browser_release.py::test_from_the_demo_to_a_release_within_the_limits",
    "Upload a file, or open the demo.",
)


@SCRIPT.step("The page says what was read: records, columns, which codes were taken for missing and what that does.")
def _(hand: Hand) -> None:
    hand.reads("Records 400", "Columns 7", place="#file-facts")
    hand.press("How the file is read, and a second file")
    hand.fill("#file-missing", "refused")
    hand.press("Read again")
    hand.reads("Values that became missing", "refused job 20", place="#file-facts")
    hand.fill("#file-missing", "")
    hand.press("Read again")


@SCRIPT.step("All formats of files as offices have them are read, two files by one key, too.")
def _(hand: Hand) -> None:
    hand.reads("CSV (also compressed), Excel, Parquet, Arrow, SPSS, Stata, SAS.")
    hand.fill("#file-join_key", "home")
    hand.send("#file-second", hand.files["homes"])
    hand.press("Read again")
    hand.reads("Columns 8", "area texts", place="#file-facts")


SCRIPT.elsewhere(
    "tests/workflow/sessions/test_opening.py::test_codes_that_the_file_declares_are_named_as_applied",
    "Codes that an SPSS or Stata file declares missing are applied, and named with their columns and labels; the "
    "form can keep those with a label as categories.",
)


@SCRIPT.step(
    'Values that may mean missing, such as -9 or "refused", are listed with the number of records that hold them;'
    " tick those that do, and the file is read once more."
)
def _(hand: Hand) -> None:
    hand.reads("-9 age 30", "refused job 20", place="#file-facts")
    for code in ("-9", "refused"):
        hand.press(code, kinds=("tick",))
    hand.press("Use these codes")
    hand.reads("Values that became missing", place="#file-facts")
    assert faults(hand.page) == []


@SCRIPT.step(
    "Delimiter, encoding and decimal mark are found by themselves and can be said; so can the sheet of a workbook"
    " and the row with the names of columns, where there are several sheets or a title."
)
def _(hand: Hand) -> None:
    for place, value in (("delimiter", ";"), ("decimal", ","), ("encoding", "utf-8")):
        assert hand.page.input_value(f"#file-{place}") == ""
        hand.choose(f"#file-{place}", value)
    before = hand.text("#file-facts")
    hand.press("Read again")
    joined = "Warning: homes.csv: read by the delimiter ',' of its own, not as people.csv is "  # which has a semicolon
    after = hand.text("#file-facts")
    assert joined in after
    assert after.replace(joined, "") == before
    hand.fill("#file-sheet", "1")  # a CSV has none
    hand.press("Read again")
    hand.reads("has no sheets", place="#file-sheet_fault")
    hand.fill("#file-sheet", "")


SCRIPT.elsewhere(
    "tests/app/pages/test_file.py::test_codes_that_undo_or_a_version_brings_back_are_those_the_file_is_read_with",
    "The codes that a scenario, a version, a project or Undo brings are those that it is read with.",
)
SCRIPT.elsewhere(
    "tests/app/test_browser_coming_back.py::test_a_sheet_and_the_row_of_names_are_chosen",
    "Delimiter, encoding and decimal mark are found by themselves and can be said; so can the sheet of a workbook"
    " and the row with the names of columns, where there are several sheets or a title.",
)


@SCRIPT.step("A file that cannot be read, or that another one replaces, is removed at once.")
def _(hand: Hand) -> None:
    hand.send("#file-upload", hand.files["bad"])
    hand.reads("bad.parquet is not Parquet", place="#file-upload_fault[role=alert]")
    assert hand.page.get_attribute("#file-upload", "aria-invalid") == "true"
    hand.go("risk")  # where the field cannot be seen a box on top says it
    hand.reads("bad.parquet is not Parquet", place="#alert")
    hand.press("Close")
    assert hand.page.is_hidden("#alert")
    hand.go("file")
    assert not hand.page.query_selector(".fault")
    kept = {path.name for path in hand.served.own.glob("session-*/files/*/*")}
    assert kept == {"people.csv", "homes.csv"}


SCRIPT.elsewhere(
    "tests/app/test_browser_coming_back.py::test_an_upload_on_a_full_disk_is_told_of_leaves_nothing_and_is_sent_again",
    "If the disk is full, the page says so, what had come of the file is removed, and Try again sends it once more.",
)


@SCRIPT.step(
    "Single records are shown only with exact figures, fifty at a time, marked, and never a direct identifier."
)
def _(hand: Hand) -> None:
    hand.reads("Single records are shown only with exact figures")
    assert not hand.page.query_selector("#file-rows")
    hand.press("Exact figures")
    hand.press("Show a page of records")
    hand.reads("Records 1 to 50 of 400", place="#file-records")
    assert hand.page.is_visible("#exact_mark")
    for row in ("Row home age job", "1 h0"):  # without the column person
        assert row in hand.text("#file-records")
    assert MARKER in hand.text("#file-records")
    hand.press("Next page")
    hand.reads("Records 51 to 100 of 400", place="#file-records")
    hand.press("Hide the records")
    hand.press("Exact figures")
    assert MARKER not in hand.page.content()


@SCRIPT.step("What each column is, guessed with the evidence for it; take a guess over or change it.")
def _(hand: Hand) -> None:
    assert hand.page.input_value("#roles-role_0") == "identifier"
    hand.reads("its name speaks of age")
    assert faults(hand.page) == []
    hand.choose("#roles-role_1", "household")
    hand.press("Exact figures")  # what is not in use yet stays
    hand.press("Exact figures")
    assert hand.page.input_value("#roles-role_1") == "household"


@SCRIPT.step(
    "Accept the guesses takes all of them in one click.",
    "The type of release is then a public-use file, the strictest of the published ones, until you say otherwise.",
    "Questions that a guess leaves open stay in the scenario as unconfirmed until you tick that you have answered"
    " them; sdckit check waits for that.",
)
def _(hand: Hand) -> None:
    hand.press("Accept the guesses")
    assert shown(hand.page) == "Risk"
    assert MARKER not in hand.page.content()
    hand.go("roles")
    hand.reads("In use.", place="#roles-use")
    assert hand.page.input_value("#roles-release") == "public-use"
    told = _scenario(hand)
    assert 'household = "home"' in told
    assert "unconfirmed = [" in told
    hand.choose("#roles-release", "scientific-use")
    hand.press("I have answered the questions")
    _use(hand)
    told = _scenario(hand)
    assert 'release = "scientific-use"' in told
    assert "unconfirmed" not in told


SCRIPT.elsewhere(
    "tests/workflow/test_check.py::test_guesses_that_nobody_confirmed_are_no_gate",
    "Questions that a guess leaves open stay in the scenario as unconfirmed until you tick that you have answered"
    " them; sdckit check waits for that.",
)


@SCRIPT.step(
    "Above the table columns are searched by name and filtered: open questions, keys, without a role; what is "
    "hidden keeps its role."
)
def _(hand: Hand) -> None:
    rows = "#columns tbody tr"
    hand.choose("#roles-role_6", "ignore")
    hand.fill("[data-rows] input", "INC")
    assert hand.count(rows) == 1
    hand.fill("[data-rows] input", "")
    shown_by = {}
    for kind in ("question", "key", "ignore", "all"):
        hand.choose("[data-rows] select", kind)
        shown_by[kind] = hand.count(rows)
    assert shown_by == {"question": 4, "key": 4, "ignore": 2, "all": 8}
    assert hand.page.input_value("#roles-role_1") == "household"


@SCRIPT.step(
    "Several intruders, limits and the type of release are said here; a key must be known to one intruder at least."
)
def _(hand: Hand) -> None:
    page = hand.page
    hand.press("Add an intruder")
    hand.fill("#roles-name_1", "colleague")
    hand.choose("#roles-release", "")
    hand.fill("#roles-limit_k", "3")
    knows = [f"input[name=roles-knows_{at}][value=sex]" for at in (0, 1)]
    for place in knows:
        hand.at(place).uncheck()
    hand.press(USE)
    hand.reads("sex", place=".fault")
    assert shown(page) == "Roles"
    hand.at(knows[0]).check()
    _use(hand)
    told = _scenario(hand)
    assert "[intruders.colleague]" in told, told
    assert "k = 3" in told
    hand.press("Remove the last intruder")


@SCRIPT.step("A scenario file can be loaded.")
def _(hand: Hand) -> None:
    hand.send("#roles-load", hand.files["fits"])
    hand.page.wait_for_function("() => document.querySelector('#roles-name_0')?.value === 'neighbour'")


@SCRIPT.step("A type of release asks what every column is.")
def _(hand: Hand) -> None:
    hand.go("risk")
    hand.reads("name a type of release to have it judged")
    hand.go("roles")
    hand.choose("#roles-release", "public-use")
    hand.press(USE)
    assert "name a type of release" not in hand.text()


@SCRIPT.step(
    "Under the table it can be said that no column is sensitive, that there are no households, and that all other"
    " columns are insensitive; the last has a button, which asks who found so and why."
)
def _(hand: Hand) -> None:
    hand.press("no column is an amount of which few hold much")
    hand.press("there are no households in the file")
    hand.press("All others are insensitive: use it so")
    hand.reads("say who found all other columns insensitive", place="#roles-because_fault")
    hand.fill("#roles-because", "the team, for they are known to nobody")
    hand.press("All others are insensitive: use it so")
    assert shown(hand.page) == "Risk"
    hand.go("roles")
    told = _scenario(hand)
    for line in ("magnitudes = []", "the team, for they", '"*"'):
        assert line in told, told


@SCRIPT.step(
    "Columns that are still without a role are named once the roles are in use.",
    "none in the field of a limit says that it is not asked.",
    "The population is said as a share or as a number of people; the number becomes the share, sampling_fraction,"
    " by the records as documents print them.",
)
def _(hand: Hand) -> None:
    hand.send("#roles-load", hand.files["fits"])
    hand.choose("#roles-release", "public-use")
    hand.fill("#roles-limit_l", "none")
    hand.fill("#roles-population", "40000")
    _use(hand)
    hand.reads("'home'", "'income'", "'area'", place="#roles-use .warn")
    hand.reads("Not asked", place="#roles-use")
    assert hand.page.input_value("#roles-fraction") == "0.01"
    assert "sampling_fraction = 0.01" in _scenario(hand)


SCRIPT.elsewhere(
    "tests/app/pages/test_roles.py::test_a_population_becomes_the_share_that_documents_print",
    "The population is said as a share or as a number of people; the number becomes the share, sampling_fraction,"
    " by the records as documents print them.",
)


@SCRIPT.step("Numbers in the evidence are rounded as in any document.")
def _(hand: Hand) -> None:
    hand.reads("<5 values")


RED = """one => {
  const [red, green, blue] = getComputedStyle(one).color.match(/[0-9.]+/g).map(Number);
  return red > green + 40 && red > blue + 40;
}"""


@SCRIPT.step(
    "A role that cannot be, a column that is not there or a limit that is no number is told in red, and nothing "
    "is changed."
)
def _(hand: Hand) -> None:
    before = _scenario(hand)
    hand.fill("#roles-limit_k", "two")
    hand.press(USE)
    hand.reads("whole number", place="#roles-limit_k_fault")
    assert hand.page.locator("#roles-limit_k_fault").evaluate(RED)
    hand.fill("#roles-limit_k", "3")
    hand.choose("#roles-role_3", "weight")  # texts
    hand.press(USE)
    hand.reads("weight", place=".fault")
    hand.send("#roles-load", hand.files["other"])
    hand.reads("elsewhere", place="#roles-load_fault")
    assert _scenario(hand) == before


@SCRIPT.step("The scenario can be downloaded as a file for the command line.")
def _(hand: Hand) -> None:
    hand.send("#roles-load", hand.files["fits"])
    _scenario(hand)
    made, given = (sdc.Scenario.from_toml(path) for path in (hand.folder / "scenario.toml", hand.files["fits"]))
    assert made == given.changed(missing_codes=made.missing_codes), (made.missing_codes, given.missing_codes)
    assert set(made.missing_codes) == {"-9", "refused"}, made.missing_codes  # with which the file was read


@SCRIPT.step("The verdicts, and the figures behind them.")
def _(hand: Hand) -> None:
    hand.reads("limit", place="#verdict_bar")
    hand.reads("How many records share a key", "k-anonymity", place="#risk-first")


@SCRIPT.step(
    "Leave keys out and see the risk move; ask what would help most, who is unique by which keys, and how it is "
    "in subgroups."
)
def _(hand: Hand) -> None:
    hand.at("input[name=risk-ticked][value=age]").uncheck()
    hand.page.wait_for_selector("#risk-moved table", state="attached")
    for name in ("What would help most", "Levels of the keys"):
        hand.press(name, wait=False)  # they stand in line
    hand.at("#risk-measure").select_option("suda")
    hand.press("Answer it", wait=False)
    hand.at("#risk-by").select_option("sex")
    hand.press("Show the subgroups")
    for name in ("helps", "levels", "further", "by"):
        hand.page.wait_for_selector(f"#risk-more_{name} .sdckit", state="attached")


@SCRIPT.step("Subgroups are those of a variable with 50 values at most that is no identifier, household or weight.")
def _(hand: Hand) -> None:
    assert hand.page.locator("#risk-by option").all_inner_texts() == ["age", "job", "sex", "ill", "area"]


@SCRIPT.step(
    "Where neither a weight nor a share of the population is declared, the page says that the file is taken for "
    "the whole population, and what that means."
)
def _(hand: Hand) -> None:
    hand.reads("taken for the whole population", "who is alone in it is alone among all", place="#risk-whole")
    hand.press("Go to Roles", kinds=("way",))
    hand.fill("#roles-fraction", "0.1")
    hand.press(USE)
    assert not hand.text("#risk-whole")


@SCRIPT.step(
    "The first figures come by themselves whenever the file or the scenario changes; what takes longer has a button."
)
def _(hand: Hand) -> None:
    hand.go("roles")
    hand.fill("#roles-fraction", "")
    hand.fill("#roles-limit_k", "4")
    hand.press(USE)
    hand.reads("k = 4", place="#risk-first")


SCRIPT.elsewhere(
    "tests/workflow/sessions/test_risk.py::test_what_was_measured_is_kept",
    "What was measured is kept, so that going back, another intruder or another language costs no second run.",
)
SCRIPT.elsewhere(
    "tests/workflow/sessions/test_risk.py::test_risk_moves_with_the_keys",
    "Where keys are left out, both sets stand in one table that passes the gate as one: what would give a small "
    "count away is withheld.",
)


SCRIPT.elsewhere(
    "tests/app/test_browser_answers.py::test_single_combinations_stay_on_the_screen_of_exact_figures",
    "With exact figures, and only then, the page shows the riskiest combinations of an intruder's keys (as many "
    "as you ask for, up to 100; among equals those of the rarest values first) and what makes one of them risky: "
    "the smallest sets of keys that single it out, and the single changes that end it, as sdckit explain does.",
    "They are values of people: marked, gone from the screen when the switch is turned off, and in nothing that "
    "is saved or taken away.",
)
