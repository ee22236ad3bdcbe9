"""What shows the sentences of docs/app.md on page Protect."""

from __future__ import annotations

import sdckit as sdc
from app.docs_walk import MARKER, Hand, Script
from sdckit.data.columns import MONTHS
from sdckit.data.losses import INFORMATION, LOSSES

SCRIPT = Script()
SESSIONS = "tests/workflow/sessions/"


def steps_of(hand: Hand) -> list[str]:
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
    advised = steps_of(hand)
    names = page.locator("#page_protect .step-name").all_inner_texts()
    assert [name.split(".")[0].strip() for name in names] == [str(at) for at in range(1, len(advised) + 1)]
    hand.press("Propose a recipe", wait=False)
    hand.press("Take this one")  # of the search that goes on, or beside the best where that has ended
    assert page.is_hidden("#busy")
    hand.kept["proposed"] = steps_of(hand)


SCRIPT.elsewhere(
    "tests/workflow/proposing/test_propose.py"
    "::test_what_passed_before_the_search_is_the_proposal_where_nothing_later_passes",
    "Where nothing later holds every limit and loses no more, the search ends with that one.",
)
SCRIPT.elsewhere(
    "tests/app/pages/test_protect.py::test_what_was_found_is_told_of_the_steps_and_roles_that_it_was_judged_under",
    "What they say of the limits was judged with these steps, roles and limits: once one of them changes, the page "
    "says so.",
)
SCRIPT.elsewhere(
    SESSIONS + "test_protecting.py::test_recipes_to_start_from",
    "Propose a recipe searches for the one that loses least while every limit holds, within two minutes; a first "
    "recipe that holds every limit, with few or no values taken out, is looked for before the search, later ones "
    "lose less, and Take this one takes the one that is shown and ends the search; Start from the advice writes "
    "the recipe of sdckit recipe init.",
)


SCRIPT.elsewhere(
    SESSIONS + "test_protecting.py::test_a_recipe_that_passes_is_sent_before_the_search_ends",
    "While the first recipe is judged, the page says which limits hold of it so far, and which are not judged yet; it "
    "can be taken once all of them hold.",
)


@SCRIPT.step("Both say why each step is there, and take the place of the steps in the list: Undo brings those back.")
def _(hand: Hand) -> None:
    hand.press("Start from the advice")
    hand.press("Why each step is there")
    hand.reads("Tried on the file", place="#protect-found")
    advised = steps_of(hand)
    hand.press("Undo: start from the advice")
    assert steps_of(hand) == hand.kept["proposed"]
    hand.press("Redo: start from the advice")
    assert steps_of(hand) == advised


@SCRIPT.step(
    "What is lost is the share of what the keys tell, unless another measure is chosen under What a proposal loses "
    "least of: how well a regression tells the release from the file, the intervals of a regression that you write "
    "there, or one of those of files made coarser."
)
def _(hand: Hand) -> None:
    hand.press("What a proposal loses least of")
    field = hand.page.locator("#protect-loss")
    assert field.input_value() == INFORMATION
    assert field.locator("option").all_inner_texts() == list(LOSSES.values())
    assert hand.page.is_visible("#protect-formula")
    hand.press("What a proposal loses least of")


SCRIPT.elsewhere(
    "tests/app/test_browser_map.py::test_a_proposal_by_another_loss_and_the_map_of_it",
    "Of what the keys tell the page says beside it how much is lost.",
)
SCRIPT.elsewhere(
    SESSIONS + "test_protecting.py::test_a_proposal_says_in_the_language_what_it_keeps_of_what_k_promises",
    "Where k is limited and the share matched back is not, it says that at most one in k records is expected to be "
    "matched back, or that no recipe was found by which that is so.",
)


@SCRIPT.step("Each step is a sentence; a table in it is named by the groups it makes, never by their values.")
def _(hand: Hand) -> None:
    assert any(text.startswith("age in bands: below ") for text in steps_of(hand)), steps_of(hand)


SCRIPT.elsewhere(
    "tests/app/test_step_sentences.py::test_a_step_in_a_line_tells_no_value_of_a_group",
    "Each step is a sentence; a table in it is named by the groups it makes, never by their values.",
)


@SCRIPT.step("It has a switch, buttons that move, edit and remove it, and below them the risk and the loss after it.")
def _(hand: Hand) -> None:
    steps = steps_of(hand)
    hand.reads("records in groups of fewer than 4: ", "values that differ: ", place=".step-after")
    last = len(steps)
    for _ in range(2):
        hand.press(f"Step {last} is carried out")
    hand.press(f"Move step {last} up")
    assert steps_of(hand)[-2:] == steps[:-3:-1]
    hand.press(f"Move step {last - 1} down")
    hand.press(f"Remove step {last}")
    assert steps_of(hand) == steps[:-1]
    hand.press("Undo: remove a step")
    hand.press("Edit step 1")
    assert steps_of(hand) == steps


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
    steps = steps_of(hand)
    _new_step(hand, "recompute")
    hand.fill("#protect-arg_derived", "double")
    hand.press("Apply")
    hand.reads("formula", place="#protect-arg_derived_fault")
    hand.fill("#protect-arg_derived", "double = age + age")
    hand.press("Apply")
    assert len(steps_of(hand)) == len(steps) + 1
    hand.press("Undo: add a step")


SCRIPT.elsewhere(
    "tests/app/test_step_form.py::test_values_are_written_as_recipes_are",
    'What takes several kinds of value is written as in a recipe file: [1, 2], {a = ["x"]}; columns that are '
    "computed from others have a line each, total = wage + benefits.",
)


def _recoded(hand: Hand) -> int:
    """The number of the step that puts ages in bands."""
    return next(at for at, text in enumerate(steps_of(hand), 1) if text.startswith("age in bands: "))


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


@SCRIPT.step("A variable is made coarser in four ways:")
def _(hand: Hand) -> None:
    _new_step(hand, "recode")
    ways = hand.page.locator("#protect-way label").all_inner_texts()
    words = ["Bands of numbers", "Groups of values", "Up a hierarchy", "Dates by period"]
    assert [" ".join(way.split()) for way in ways][-4:] == words


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
    assert not hand.page.query_selector(f"select[aria-label='Group of {MARKER}']")


SCRIPT.elsewhere(
    "tests/app/pages/test_step_editor.py::test_numbers_beside_groups_get_their_own_names_and_rare_ones_go",
    "Values that few records have are one line that cannot be moved; beside groups of text they stay as they are,"
    " beside groups of numbers they become missing.",
)


SCRIPT.elsewhere(
    SESSIONS + "test_protecting.py::test_an_editor_gets_bins_and_levels",
    "With exact figures each has a line of its own.",
)


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
    assert steps_of(hand)[-1].startswith("area to level 1 of its hierarchy"), steps_of(hand)
    hand.press("Close")


@SCRIPT.step("Dates by period: the month, quarter, year or decade is left of a date.")
def _(hand: Hand) -> None:
    _new_step(hand, "recode")
    hand.press("Dates by period")
    periods = hand.page.locator("#protect-period label").all_inner_texts()
    assert [period.strip() for period in periods if period.strip() in MONTHS] == [*MONTHS]
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


SCRIPT.elsewhere(
    "tests/app/test_browser_drawing.py::test_records_are_drawn_at_a_press_and_judged",
    "A file under a promise begins with the step Synthetic records from protected tables.",
    "Its form takes the domain file, ε, δ, and the path of a budget ledger on this machine.",
    "Nothing is drawn until Draw the records is pressed; each press under an ε spends it, which the ledger adds up.",
)
SCRIPT.elsewhere(
    SESSIONS + "test_drawing.py::test_nothing_is_drawn_but_at_a_press",
    "What was drawn is judged on page Release and can be taken away, under other limits, too, without spending again; "
    "it is gone with the session, and no script makes it again.",
)
SCRIPT.elsewhere(
    SESSIONS + "test_drawing.py::test_taken_away_with_what_can_be_repeated",
    "It comes first, and the steps behind it work on what it made.",
)


@SCRIPT.step('Undo and Redo say what they would take back or do again ("Undo: add a step").')
def _(hand: Hand) -> None:
    steps = steps_of(hand)
    hand.press("Undo: add a step")
    assert steps_of(hand) == steps[:-1]
    hand.press("Redo: add a step")
    assert steps_of(hand) == steps


@SCRIPT.step(
    "Versions lists earlier states, each with its roles, limits and steps: those that you keep under a name (Keep"
    " this version), and one before every proposal, advice, other recipe, loaded recipe, change of roles or other"
    " file, thirty at most.",
    "Compare puts one beside the recipe here, under the roles in use: risk and loss of both, and whether each "
    "limit holds for what they make, in the words of the report; Open goes back to it.",
    "Undo leaves them alone, and they are saved with your work.",
)
def _(hand: Hand) -> None:
    steps, versions = steps_of(hand), "#protect-versions"
    hand.press("Versions")
    hand.fill("#protect-version_name", "mine")
    hand.press("Keep this version")
    assert hand.page.is_visible("#protect-version_name")  # the fold stays as it was opened
    hand.reads("mine", "before a proposal", "before the advice", f"{len(steps)} steps", place=versions)
    hand.press("Compare: before the advice")
    row = hand.page.locator(f"{versions} tr", has_text="k-anonymity (limit 4)")
    assert row.locator("td").all_inner_texts() == ["holds", "holds"]
    hand.press("Open: before the advice")
    assert steps_of(hand) == hand.kept["proposed"]
    hand.press("Undo: open a version")
    assert steps_of(hand) == steps
    if not hand.page.is_visible("#protect-version_name"):
        hand.press("Versions")
    hand.reads("mine", place=versions)


SCRIPT.elsewhere(
    "tests/app/test_browser_sessions.py::test_versions_of_a_name_stay_and_automatic_ones_are_bounded",
    "Versions lists earlier states, each with its roles, limits and steps: those that you keep under a name (Keep"
    " this version), and one before every proposal, advice, other recipe, loaded recipe, change of roles or other"
    " file, thirty at most.",
)


SCRIPT.elsewhere(
    "tests/app/test_browser_sessions.py::test_decisions_are_kept_for_undo_and_for_the_next_start",
    "Undo leaves them alone, and they are saved with your work.",
)
SCRIPT.elsewhere(
    "tests/app/pages/test_protect.py::test_a_version_of_another_file_is_listed_and_cannot_be_opened",
    "A version whose columns the open file does not have stays in the list and cannot be opened there.",
)


SCRIPT.elsewhere(
    "tests/app/pages/test_protect.py::test_a_new_step_stands_before_columns_that_are_computed_in_the_end",
    "A new step is put before them.",
)
SCRIPT.elsewhere(
    "tests/app/test_browser_versions.py::test_undo_asks_before_it_changes_roles_that_came_from_a_file",
    "Where that changes the roles, the page asks first, and the state of before stays among the versions.",
    "Take roles and limits from a scenario file does what it does on page Roles: the steps stay, and Undo asks "
    "before it brings the roles of before back.",
)


@SCRIPT.step(
    "Take the steps of a recipe file loads a recipe.toml once it was held against the file; its derived columns "
    "are the last step, and what stood there is among the versions."
)
def _(hand: Hand) -> None:
    steps = steps_of(hand)
    hand.send("#protect-recipe_file", hand.files["recipe"])
    assert len(steps_of(hand)) == 2, steps_of(hand)
    assert steps_of(hand)[-1].startswith("income computed anew")
    hand.press("Versions")
    hand.press("Open: mine")
    assert steps_of(hand) == steps


SCRIPT.elsewhere(
    "tests/workflow/sessions/test_protecting.py::test_a_step_that_breaks_an_edit_rule_is_named",
    "A step that breaks an edit rule of the scenario, in records that kept it, is named above what was done.",
)


MAP = "tests/app/test_browser_map.py::test_a_recipe_of_the_map_is_opened_used_and_taken_back"
SCRIPT.elsewhere(
    MAP,
    "The map of risk and loss shows recipes side by side: the lower and the further left, the better.",
    "Propose a recipe draws the one it found and those beside it, by what the keys no longer tell; Look around this "
    "recipe carries out the recipe with its numbers smaller and larger, and bands with fewer edges, up to 24 recipes, "
    "and draws them with all that were carried out under the same roles, by the values that differ, or by the measure "
    "that is chosen for a proposal where every recipe may have it.",
    "Every number on the map is a recipe.",
    "Choose a number with the mouse or the keyboard: its steps stand beside it as sentences, Compare puts it beside "
    "the recipe in the list, and Use this recipe takes its steps, which Undo takes back.",
)
SCRIPT.elsewhere(
    "tests/workflow/sessions/test_exploring.py::test_the_time_ends_the_search_and_what_was_tried_is_kept",
    "Then it holds them against the limits as page Release does, those that no other beats first, until a minute is "
    "over: ask again to go on.",
)
SCRIPT.elsewhere(
    "tests/app/test_recipe_map.py::test_every_mark_says_what_it_means",
    "Its shape says whether every limit holds (round), not every one (square), or that this was not judged or is left "
    "open by the printed figures (dotted); a star marks the least loss of those that pass, a ring the recipe in the "
    "list, a dark ground those that no other beats in both.",
)
SCRIPT.elsewhere(
    "tests/app/test_recipe_map.py::test_the_table_has_what_the_picture_has_and_those_without_a_place",
    "A legend says so below, and a table has the same with what sets each recipe apart.",
)
