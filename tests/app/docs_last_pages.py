"""What shows the sentences of docs/app.md on the pages Protect, Release and Take away, and on coming back."""

from __future__ import annotations

import json
from typing import Any

import sdckit as sdc
from app.browsing import READY, calm
from app.docs_walk import Hand, Script

SCRIPT = Script()
SESSIONS = "tests/workflow/sessions/"


def _steps(hand: Hand) -> list[str]:
    """What the steps say."""
    return list(hand.page.locator("#page_protect .step-about").all_inner_texts())


def _new_step(hand: Hand, method: str) -> None:
    """The form of a new step."""
    if hand.count("#protect-close_step"):
        hand.press("Close")
    hand.choose("#protect-method", method)
    hand.press("Add a step")
    hand.page.wait_for_selector(f"#protect-editor .step-editor[data-method={method}]")


@SCRIPT.step(
    "The steps of the recipe, in their order.",
    "Propose a recipe searches for the one that loses least while every limit holds, within two minutes; a first "
    "recipe that holds every limit, with few or no values taken out, is looked for before the search, later ones "
    "lose less, and Take this one takes the one that is shown and ends the search; Start from the advice writes "
    "the recipe of sdckit recipe init.",
)
def _(hand: Hand) -> None:
    page = hand.page
    hand.press("Start from the advice")
    advised = _steps(hand)
    names = page.locator("#page_protect .step-name").all_inner_texts()
    assert [name.split(".")[0].strip() for name in names] == [str(at) for at in range(1, len(advised) + 1)]
    hand.press("Propose a recipe", wait=False)
    page.wait_for_selector("#busy:not([hidden])")
    hand.at("button.way[data-go=risk]").click()
    hand.at("#risk-further").click()  # it waits behind the search
    hand.at("#cancel").click()
    calm(page)
    assert page.is_hidden("#busy")
    hand.press("Start")
    page.wait_for_selector("#risk-more_further .sdckit", state="attached")
    hand.go("protect")
    assert _steps(hand) == advised
    hand.press("Propose a recipe", wait=False)
    hand.press("Take this one")  # of the search that goes on, or beside the best where that has ended
    assert page.is_hidden("#busy")
    hand.kept["proposed"] = _steps(hand)


SCRIPT.elsewhere(
    SESSIONS + "test_protecting.py::test_recipes_to_start_from",
    "Propose a recipe searches for the one that loses least while every limit holds, within two minutes; a first "
    "recipe that holds every limit, with few or no values taken out, is looked for before the search, later ones "
    "lose less, and Take this one takes the one that is shown and ends the search; Start from the advice writes "
    "the recipe of sdckit recipe init.",
)


@SCRIPT.step("Both say why each step is there, and take the place of the steps in the list: Undo brings those back.")
def _(hand: Hand) -> None:
    hand.press("Start from the advice")
    hand.press("Why each step is there")
    hand.reads("Tried on the file", place="#protect-found")
    advised = _steps(hand)
    hand.press("Undo: start from the advice")
    assert _steps(hand) == hand.kept["proposed"]
    hand.press("Redo: start from the advice")
    assert _steps(hand) == advised


@SCRIPT.step("Each step is a sentence; a table in it is named by the groups it makes, never by their values.")
def _(hand: Hand) -> None:
    assert any(text.startswith("age in bands: below ") for text in _steps(hand)), _steps(hand)


SCRIPT.elsewhere(
    "tests/app/test_step_sentences.py::test_a_step_in_a_line_tells_no_value_of_a_group",
    "Each step is a sentence; a table in it is named by the groups it makes, never by their values.",
)


@SCRIPT.step("It has a switch, buttons that move, edit and remove it, and below them the risk and the loss after it.")
def _(hand: Hand) -> None:
    steps = _steps(hand)
    hand.reads("records in groups of fewer than 4: ", "values that differ: ", place=".step-after")
    for _ in range(2):
        hand.press("Step 1 is carried out")
    hand.press("Move step 1 down")
    assert _steps(hand)[:2] == steps[1::-1]
    hand.press("Move step 2 up")
    hand.press("Remove step 1")
    assert _steps(hand) == steps[1:]
    hand.press("Undo: remove a step")
    hand.press("Edit step 1")
    assert _steps(hand) == steps


@SCRIPT.step(
    "Its form asks for what the method takes, in the words of the reference; what few people need is folded away."
)
def _(hand: Hand) -> None:
    _new_step(hand, "local_suppression")
    words = " ".join(str(sdc.local_suppression.__doc__).split())
    assert hand.text("#protect-editor .step-editor > p")[:30] in words
    hidden = hand.count("#protect-editor .field")
    hand.press("More options")
    assert hand.count("#protect-editor .field") > hidden


@SCRIPT.step(
    'What takes several kinds of value is written as in a recipe file: [1, 2], {a = ["x"]}; columns that are '
    "computed from others have a line each, total = wage + benefits."
)
def _(hand: Hand) -> None:
    steps = _steps(hand)
    _new_step(hand, "recompute")
    hand.fill("#protect-arg_derived", "double")
    hand.press("Apply")
    hand.reads("formula", place="#protect-arg_derived_fault")
    hand.fill("#protect-arg_derived", "double = age + age")
    hand.press("Apply")
    assert len(_steps(hand)) == len(steps) + 1
    hand.press("Undo: add a step")


SCRIPT.elsewhere(
    "tests/app/test_step_form.py::test_values_are_written_as_recipes_are",
    'What takes several kinds of value is written as in a recipe file: [1, 2], {a = ["x"]}; columns that are '
    "computed from others have a line each, total = wage + benefits.",
)


def _recoded(hand: Hand) -> int:
    """The number of the step that puts ages in bands."""
    return next(at for at, text in enumerate(_steps(hand), 1) if text.startswith("age in bands: "))


@SCRIPT.step(
    "Beside the form stands the variable before and after the step; both pictures pass the gate as one, so that "
    "their difference counts nobody, and follow the switch to exact figures."
)
def _(hand: Hand) -> None:
    hand.press(f"Edit step {_recoded(hand)}")
    hand.reads("Before and after: age", place="#protect-picture")
    hand.page.locator("#protect-picture svg").nth(1).wait_for()


SCRIPT.elsewhere(
    "tests/app/test_browser_by_hand.py::test_by_mouse_and_in_german",
    "Beside the form stands the variable before and after the step; both pictures pass the gate as one, so that "
    "their difference counts nobody, and follow the switch to exact figures.",
)


@SCRIPT.step("A variable is made coarser in three ways:")
def _(hand: Hand) -> None:
    _new_step(hand, "recode")
    ways = hand.page.locator("#protect-way label").all_inner_texts()
    assert [" ".join(way.split()) for way in ways][-3:] == ["Bands of numbers", "Groups of values", "Up a hierarchy"]


def _edges(hand: Hand) -> list[float]:
    return [float(edge.get_attribute("aria-valuenow")) for edge in hand.page.locator("g.edge").all()]


@SCRIPT.step("Bands: edges on the histogram.")
def _(hand: Hand) -> None:
    hand.press("Close")
    hand.press(f"Edit step {_recoded(hand)}")
    hand.press("Bands of numbers")
    hand.page.wait_for_selector("svg.histogram")
    assert _edges(hand)


@SCRIPT.step(
    "Move one with the mouse, with the arrow keys (Page Up and Down for larger steps, Delete removes it), or "
    "write its number."
)
def _(hand: Hand) -> None:
    edge = hand.at("g.edge")
    before = _edges(hand)
    edge.press("ArrowRight")
    assert _edges(hand)[0] == before[0] + 1
    edge.press("ArrowLeft")
    edge.press("PageUp")
    assert _edges(hand)[0] > before[0] + 1
    hand.fill(".edges input", str(before[0]))
    assert _edges(hand) == before
    hand.press("Add an edge")
    hand.page.locator("g.edge").last.press("Delete")
    assert len(_edges(hand)) == len(before)


SCRIPT.elsewhere(
    "tests/app/test_browser_by_hand.py::test_by_mouse_and_in_german",
    "Move one with the mouse, with the arrow keys (Page Up and Down for larger steps, Delete removes it), or "
    "write its number.",
)
SCRIPT.elsewhere(
    "tests/workflow/recipes/test_step_forms.py::test_edges_to_start_from_are_inside_and_ascend",
    "They start from round edges on which neither the smallest nor the largest value decides.",
)


@SCRIPT.step("Groups: choose the group of each value from its list, or drag the value there.")
def _(hand: Hand) -> None:
    _new_step(hand, "recode")
    hand.choose("#protect-arg_column", "job")
    hand.press("Groups of values")
    hand.press("New group")
    box = hand.page.locator(".boxes .box").filter(has_text="group 1")
    hand.page.locator("table.levels th", has_text="cook").drag_to(box)
    hand.choose("select[aria-label='Group of clerk']", "group 1")
    assert "clerk, cook" in box.inner_text() or "cook, clerk" in box.inner_text()


@SCRIPT.step(
    "Values that few records have are one line that cannot be moved; beside groups of text they stay as they are,"
    " beside groups of numbers they become missing."
)
def _(hand: Hand) -> None:
    hand.reads("Values that few records have are one line here.", place="#protect-editor")
    assert not hand.page.query_selector("select[aria-label='Group of diver']")


SCRIPT.elsewhere(
    "tests/app/pages/test_step_editor.py::test_numbers_beside_groups_get_their_own_names_and_rare_ones_go",
    "Values that few records have are one line that cannot be moved; beside groups of text they stay as they are,"
    " beside groups of numbers they become missing.",
)


@SCRIPT.step("With exact figures each has a line of its own.")
def _(hand: Hand) -> None:
    hand.press("Exact figures")
    hand.page.wait_for_selector("select[aria-label='Group of diver']")
    hand.press("Exact figures")
    hand.page.wait_for_selector("select[aria-label='Group of diver']", state="detached")


@SCRIPT.step(
    "A hierarchy: a file, or one built from the values, from codes by cutting off their ends, or from numbers in "
    "bands, each level with every second edge of the one below."
)
def _(hand: Hand) -> None:
    hand.choose("#protect-arg_column", "area")
    hand.press("Up a hierarchy")
    hand.send("#protect-hierarchy_file", hand.files["areas"])
    assert hand.page.input_value("#protect-hierarchy").endswith("areas.csv")
    hand.press("Build one by cutting the ends of codes")
    assert not hand.page.input_value("#protect-hierarchy").endswith("areas.csv")
    hand.press("Apply")
    assert _steps(hand)[-1].startswith("area to level 1 of its hierarchy"), _steps(hand)
    hand.press("Close")


SCRIPT.elsewhere(
    SESSIONS + "test_hierarchies.py::test_a_hierarchy_is_built_and_changed_by_ticking",
    "The level that the step goes up to stands as a list: each group with its records, and below it what it is "
    "made of, with the records before; both pass the gate as one.",
    "Tick groups and press Merge, Split, Rename, Move up or Move down; ticked parts are taken out of their group "
    "by Split; levels are added and removed.",
    "A hierarchy is a file that the recipe names; each change writes another one, so that Undo brings back the "
    "one before.",
)
SCRIPT.elsewhere(
    "tests/app/pages/test_hierarchy_editor.py::test_a_level_is_a_list_to_tick_with_its_counts",
    "Groups of fewer than five records are one line, which can be merged as a whole.",
)


@SCRIPT.step('Undo and Redo say what they would take back or do again ("Undo: add a step").')
def _(hand: Hand) -> None:
    steps = _steps(hand)
    hand.press("Undo: add a step")
    assert _steps(hand) == steps[:-1]
    hand.press("Redo: add a step")
    assert _steps(hand) == steps


@SCRIPT.step("Where that changes the roles, the page asks first, and the state of before stays among the versions.")
def _(hand: Hand) -> None:
    steps = _steps(hand)
    hand.go("roles")
    hand.fill("#roles-limit_k", "3")
    hand.press("Use these roles and limits")
    hand.go("protect")
    hand.press("Undo: change roles")
    hand.reads("This changes the roles, not only the steps.")
    hand.press("Leave all as it is")
    hand.press("Undo: change roles")
    hand.press("Change the roles")
    hand.press("Versions")
    hand.reads("before roles were changed", place="#protect-versions")
    hand.press("Redo: change roles")
    hand.press("Change the roles")
    assert _steps(hand) == steps


@SCRIPT.step(
    "Versions lists earlier states, each with its roles, limits and steps: those that you keep under a name (Keep"
    " this version), and one before every proposal, advice, other recipe, loaded recipe, change of roles or other"
    " file, thirty at most."
)
def _(hand: Hand) -> None:
    hand.press("Versions")
    hand.fill("#protect-version_name", "mine")
    hand.press("Keep this version")
    hand.press("Versions")
    hand.reads(
        "mine", "before a proposal", "before the advice", f"{len(_steps(hand))} steps", place="#protect-versions"
    )


SCRIPT.elsewhere(
    "tests/app/test_browser_sessions.py::test_versions_of_a_name_stay_and_automatic_ones_are_bounded",
    "Versions lists earlier states, each with its roles, limits and steps: those that you keep under a name (Keep"
    " this version), and one before every proposal, advice, other recipe, loaded recipe, change of roles or other"
    " file, thirty at most.",
)


@SCRIPT.step(
    "Compare puts one beside the recipe here, under the roles in use: risk and loss of both, and whether each "
    "limit holds for what they make, in the words of the report; Open goes back to it."
)
def _(hand: Hand) -> None:
    steps = _steps(hand)
    hand.press("Compare: before a proposal")
    hand.page.wait_for_selector("#protect-versions table")
    hand.press("Open: before a proposal")
    assert _steps(hand) != steps
    hand.press("Versions")
    hand.press("Open: mine")
    assert _steps(hand) == steps


@SCRIPT.step("Undo leaves them alone, and they are saved with your work.")
def _(hand: Hand) -> None:
    hand.press("Versions")
    count = hand.count("#protect-versions li")
    hand.press("Undo: open a version")
    if hand.count("#page_protect [data-act=leave]"):  # the version had other roles
        hand.press("Leave all as it is")
    hand.press("Versions")
    assert hand.count("#protect-versions li") >= count


SCRIPT.elsewhere(
    "tests/app/test_browser_sessions.py::test_decisions_are_kept_for_undo_and_for_the_next_start",
    "Undo leaves them alone, and they are saved with your work.",
)
SCRIPT.elsewhere(
    "tests/app/test_versions.py::test_a_version_of_another_file_is_listed_and_cannot_be_opened",
    "A version whose columns the open file does not have stays in the list and cannot be opened there.",
)


SCRIPT.elsewhere(
    "tests/app/pages/test_protect.py::test_a_new_step_stands_before_columns_that_are_computed_in_the_end",
    "A new step is put before them.",
)
SCRIPT.elsewhere(
    "tests/app/test_browser_versions.py::test_undo_asks_before_it_changes_roles_that_came_from_a_file",
    "Take roles and limits from a scenario file does what it does on page Roles: the steps stay, and Undo asks "
    "before it brings the roles of before back.",
)


@SCRIPT.step(
    "Take the steps of a recipe file loads a recipe.toml once it was held against the file; its derived columns "
    "are the last step, and what stood there is among the versions."
)
def _(hand: Hand) -> None:
    hand.send("#protect-recipe_file", hand.files["recipe"])
    assert len(_steps(hand)) == 2, _steps(hand)
    assert _steps(hand)[-1].startswith("income computed anew")
    hand.press("Versions")
    hand.press("Open: mine")
    assert len(_steps(hand)) > 2


SCRIPT.elsewhere(
    "tests/app/test_step_form.py::test_what_was_found_is_told_with_the_recipes_beside_it",
    "A recipe that the search found beside the best can be compared or taken, too.",
)


@SCRIPT.step(
    "One button carries the steps out and holds the release against every limit; the verdict is that of sdckit check."
)
def _(hand: Hand) -> None:
    hand.press("Make the release")
    hand.reads("The verdict", place="#release-verdict")
    hand.reads("The release:", place="#verdict_bar")


SCRIPT.elsewhere(
    SESSIONS + "test_releasing.py::test_the_verdict_is_that_of_the_gate",
    "One button carries the steps out and holds the release against every limit; the verdict is that of sdckit check.",
)
SCRIPT.elsewhere(
    SESSIONS + "test_releasing.py::test_without_a_threshold_nothing_is_said_to_pass",
    "Where no limit is declared, nothing says that the file may go out.",
)


@SCRIPT.step(
    "Below it the chapters of the report can be read, one at a time: who is matched back, what is learnt and what"
    " the release gives back, what it is still good for."
)
def _(hand: Hand) -> None:
    for title in ("Who can be recognised, and what would be learnt", "What is it still good for?"):
        hand.press(title)
        assert hand.page.locator("#release-chapter .sdckit").count() >= 1
        assert hand.page.get_by_role("button", name=title).get_attribute("aria-pressed") == "true"


@SCRIPT.step("A regression of your own is folded away above.")
def _(hand: Hand) -> None:
    assert hand.page.is_hidden("#release-formula")
    hand.press("A regression of your own")
    hand.fill("#release-formula", "income ~ sex")


@SCRIPT.step("The map shows risk and loss of every recipe that was carried out in the session.")
def _(hand: Hand) -> None:
    hand.press("Map of risk and loss")
    hand.page.wait_for_selector("#release-map_shown svg")


@SCRIPT.step(
    "What you change later, steps, roles or the switch to exact figures, takes these away until the release is "
    "made again."
)
def _(hand: Hand) -> None:
    hand.go("protect")
    hand.press("Step 1 is carried out")
    hand.go("release")
    hand.reads("make the release again", place="#release-verdict")
    assert not hand.text("#release-chapter")
    hand.go("protect")
    hand.press("Step 1 is carried out")


@SCRIPT.step("Attacks says what each simulated intruder asks.")
def _(hand: Hand) -> None:
    title = hand.page.get_by_role("heading", name="Attacks", exact=True)
    assert title.is_visible()
    hand.used.append("Attacks")
    hand.reads("Can it be told who was in the file?", place="#release-make")


@SCRIPT.step(
    "Choose a control file, people of the same kind who were never in the file, to see what the release adds; "
    "whether somebody was in the file is judged only with one."
)
def _(hand: Hand) -> None:
    hand.reads("It needs a control file; without one it is not judged.", place="#release-make")
    hand.send("#release-control_file", hand.files["control"])
    hand.page.wait_for_selector("#release-control_told .good")


@SCRIPT.step(
    "A file that cannot be read, lacks a key or a sensitive variable, or has texts where yours has numbers is "
    "refused beside its field and removed; choosing another one removes the one before."
)
def _(hand: Hand) -> None:
    hand.send("#release-control_file", hand.files["homes"])
    hand.page.wait_for_selector("#release-control_file_fault")
    assert not list(hand.served.own.glob("session-*/control/*"))
    hand.send("#release-control_file", hand.files["control"])
    assert len(list(hand.served.own.glob("session-*/control/*"))) == 1


SCRIPT.elsewhere(
    SESSIONS + "test_releasing.py::test_a_control_file_that_does_not_fit_is_removed",
    "A file that cannot be read, lacks a key or a sensitive variable, or has texts where yours has numbers is "
    "refused beside its field and removed; choosing another one removes the one before.",
)


@SCRIPT.step(
    "Simulate the attacks makes the release with them: what they came to stands under the verdict, with the "
    "limits they are held against."
)
def _(hand: Hand) -> None:
    hand.press("Make the release")
    hand.press("Simulate the attacks", kinds=("button",))
    hand.page.wait_for_selector("#release-attacked table")


@SCRIPT.step(
    "The released file as CSV, Parquet, Arrow, SPSS or Stata; the report with its decision page as HTML, PDF "
    "(printed by a Chromium of this machine) or Word (extra docx); scenario, recipe and log; hierarchies that the"
    " recipe reads."
)
def _(hand: Hand) -> None:
    _accept(hand)
    formats = hand.page.locator("#take_away-kind option").all_inner_texts()
    assert formats == ["CSV", "Parquet", "Arrow", "SPSS", "Stata"]
    hand.choose("#take_away-kind", ".parquet")
    hand.press("Write the report")
    hand.page.wait_for_selector("#take_away-report")
    hand.kept["taken"] = {what: hand.take(f"#take_away-{what}") for what in WHAT}
    assert hand.kept["taken"]["report"].read_bytes().startswith(b"<!")
    assert hand.kept["taken"]["release"].suffix == ".parquet"


WHAT = ("release", "report", "scenario", "recipe", "script", "commands", "log")


def _accept(hand: Hand) -> None:
    """Tick that a release beyond a limit is taken."""
    if hand.page.is_visible("#take_away-accept") and not hand.page.is_checked("#take_away-accept"):
        hand.press("Take it all the same")


SCRIPT.elsewhere(
    "tests/app/test_browser_by_hand.py::test_by_mouse_and_in_german",
    "The released file as CSV, Parquet, Arrow, SPSS or Stata; the report with its decision page as HTML, PDF "
    "(printed by a Chromium of this machine) or Word (extra docx); scenario, recipe and log; hierarchies that the"
    " recipe reads.",
)


SCRIPT.elsewhere(
    SESSIONS + "test_taking_away.py::test_a_release_beyond_a_limit_is_taken_only_where_somebody_says_so",
    "A release that is not within the limits is handed out only where you tick that it shall be; it is then "
    "called release-limits-exceeded, and script and command lines say so.",
)


@SCRIPT.step(
    "Save the project writes roles, limits, steps and versions into one file, project.sdckit, to carry on "
    "elsewhere: page File takes it up (Take up a project), and it waits there for its file of records."
)
def _(hand: Hand) -> None:
    hand.kept["project"] = hand.take("#take_away-project")
    assert hand.kept["project"].name == "project.sdckit"
    tab = hand.page.context.new_page()  # nothing is open there
    tab.goto(hand.served.origin + "/?new")
    tab.wait_for_selector(READY)
    beside = Hand(tab, hand.served, hand.folder, hand.files, used=hand.used, keys=hand.keys)
    beside.send("#file-project", hand.kept["project"])
    beside.reads("wait for the file of records", place="#file-waiting")
    beside.send("#file-upload", hand.files["people"])
    beside.go("protect")
    hand.kept["tab"] = beside


@SCRIPT.step("Where the open file has not its columns, it stands among the versions.")
def _(hand: Hand) -> None:
    beside = hand.kept["tab"]
    assert _steps(beside) == _steps(hand)
    beside.go("file")
    beside.press("Open the demo")
    beside.send("#file-project", hand.kept["project"])
    beside.reads("stands among the versions", place="#file-project_fault")
    beside.go("protect")
    beside.press("Versions")
    beside.reads("people.csv", "Its roles name columns that this file does not have.", place="#protect-versions")


@SCRIPT.step(
    "It is JSON text and holds no record, no secret and no figure; hierarchies are not in it, so take their files"
    " along."
)
def _(hand: Hand) -> None:
    project = json.loads(hand.kept["project"].read_text(encoding="utf-8"))
    log = json.loads(hand.kept["taken"]["log"].read_text(encoding="utf-8"))
    assert log["secret"] not in json.dumps(project)


SCRIPT.elsewhere(
    SESSIONS + "test_taking_away.py::test_script_and_commands_give_the_same_bytes",
    "repeat.py and repeat.sh repeat the session: put them, the scenario, the recipe, the log and your file into "
    "one folder.",
    "They write release-again beside the release, byte for byte the same, and hold it against every limit.",
)


@SCRIPT.step("The log holds the secret of the draws: it must not leave with the release.")
def _(hand: Hand) -> None:
    assert hand.kept["taken"]["log"].name == "log-secret.json"
    assert "secret" in json.loads(hand.kept["taken"]["log"].read_text(encoding="utf-8"))
    hand.reads("Confidential: it helps to undo the protection.", place=".download.secret")


@SCRIPT.step(
    "You closed the tab or the browser, or the machine slept: the program still runs, and your work with it.",
    "Open the address again, http://127.0.0.1:PORT/: the browser has kept its pass, for a month at most and for "
    "no longer than the program runs.",
)
def _(hand: Hand) -> None:
    page, beside = hand.page, hand.kept["tab"].page
    hand.go("protect")
    hand.kept["before"] = _state(hand)
    hand.page = page.context.new_page()
    for left in (page, beside):
        left.close()
    hand.page.goto(hand.served.origin + "/")
    hand.page.wait_for_selector(READY)


def _state(hand: Hand) -> list[Any]:
    """What is there to come back to."""
    undo = hand.page.inner_text("#page_protect button[data-act=undo]")
    return [_steps(hand), undo]


SCRIPT.elsewhere(
    "tests/app/test_browser_coming_back.py::test_whoever_closed_the_browser_goes_on_where_they_were",
    "Or run sdckit app again: it finds the one that runs, opens a fresh address of it, and ends.",
    "With FILE, the new tab has that file.",
)
SCRIPT.elsewhere(
    "tests/app/test_serve.py::test_else_it_starts_its_own", "--new, or --port with another port, starts a second one."
)


@SCRIPT.step(
    "A new tab offers the work that no tab has open, with its file, the number of its steps and when it was left:"
    " Go on with it brings back roles, steps, release and what can be undone, with the verdict on the file on "
    "top, Remove it ends it; its scenario and recipe are what is saved then."
)
def _(hand: Hand) -> None:
    for name in ("affairs.csv", "people.csv"):
        hand.reads(f"Go on with {name}?", place="#waiting")
    other = hand.page.locator("#waiting .saved", has_text="affairs.csv")
    hand.note(other.get_by_text("Remove it"))
    other.get_by_text("Remove it").click()
    other.wait_for(state="detached")
    steps = len(hand.kept["before"][0])
    hand.reads(f"Steps of the recipe: {steps}; left at", place="#waiting")
    hand.press("Go on with it")
    hand.go("protect")
    assert _state(hand) == hand.kept["before"]
    hand.reads("The file as it is:", place="#verdict_bar")
    hand.go("take_away")
    _accept(hand)
    hand.page.wait_for_selector("#take_away-release")


SCRIPT.elsewhere(
    "tests/app/test_frame.py::test_work_of_a_tab_that_is_gone_is_offered_in_every_new_one",
    "A new tab offers the work that no tab has open, with its file, the number of its steps and when it was left:"
    " Go on with it brings back roles, steps, release and what can be undone, with the verdict on the file on "
    "top, Remove it ends it; its scenario and recipe are what is saved then.",
)
SCRIPT.elsewhere(
    "tests/app/test_browser_sessions.py::test_work_waits_for_whoever_comes_and_its_worker_rests",
    "Work that waits stays until it is removed or the program ends; after ten minutes its process is ended to "
    "free the memory, and started again when it is needed.",
)
SCRIPT.elsewhere(
    "tests/app/test_browser_coming_back.py::test_a_worker_that_was_killed_is_told_of_and_tried_again",
    "If the process that works on the data ends, by itself or by the system, the page says so; ask for the same again.",
)
SCRIPT.elsewhere(
    "tests/app/test_killed.py::test_the_next_start_after_a_killed_server_offers_the_work_and_removes_the_rest",
    "If the whole program was killed, the next start offers scenario and recipe, and removes everything else that"
    " was left.",
)
SCRIPT.elsewhere(
    "tests/app/test_killed.py::test_the_task_of_a_killed_worker_gives_the_same_when_tried_again",
    "(A test kills both at random moments of opening, measuring, protecting, releasing and writing.)",
)
