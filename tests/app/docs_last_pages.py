"""What shows the sentences of docs/app.md on the pages Release and Take away, and on coming back."""

from __future__ import annotations

import json
from typing import Any

from app.browsing import READY, calm
from app.docs_protect_page import SESSIONS, steps_of
from app.docs_walk import Hand, Script

SCRIPT = Script()


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
    assert hand.page.is_visible("#release-formula")


@SCRIPT.step(
    "The map shows risk and loss of every recipe that was carried out in the session under these roles, those of page "
    "Protect among them; a recipe that is used from there opens page Protect."
)
def _(hand: Hand) -> None:
    hand.press("Map of risk and loss")
    hand.page.wait_for_selector("#release-map_picture .plane")


@SCRIPT.step(
    "What you change later, steps, roles or the switch to exact figures, takes these away until the release is made "
    "again; in another language they come back by themselves."
)
def _(hand: Hand) -> None:
    hand.go("protect")
    switch = f"Step {len(steps_of(hand))} is carried out"
    hand.press(switch)
    hand.go("release")
    hand.reads("make the release again", place="#release-verdict")
    assert not hand.text("#release-chapter")
    hand.go("protect")
    hand.press(switch)
    hand.go("release")
    hand.press("Make the release")
    for language, says in (("Deutsch", "Die geschützte Datei:"), ("English", "The release:")):
        with hand.page.expect_navigation():
            hand.press(language)
        hand.page.wait_for_selector(READY)
        calm(hand.page)
        hand.reads(says, place="#verdict_bar")
        assert hand.page.locator(".chapters button").count() > 1
    hand.go("protect")  # what a page holds is drawn once it is shown, and later steps read this one
    hand.go("release")


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
    assert not hand.page.is_checked("#release-attacks")
    hand.send("#release-control_file", hand.files["control"])
    hand.page.wait_for_selector("#release-control_told .good")
    assert hand.page.is_checked("#release-attacks")


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


SCRIPT.elsewhere(
    "tests/app/test_browser_answers.py::test_single_combinations_stay_on_the_screen_of_exact_figures",
    "Simulate the attacks makes the release with them: what they came to stands under the verdict, with the "
    "limits they are held against.",
)


@SCRIPT.step(
    "The released file as CSV, Parquet, Arrow, SPSS or Stata; the report with its decision page as HTML, PDF "
    "(printed by a Chromium of this machine) or Word (extra docx); scenario, recipe and log; each hierarchy that the"
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


@SCRIPT.step(
    "The page says which of them may go out with the release: the public report, written with the other one, which is "
    "of the release by itself, and the recipe; the rest stays in the room."
)
def _(hand: Hand) -> None:
    goes, stays = (
        [link.get_attribute("id") for link in box.locator("a.shiny-download-link").all()]
        for box in hand.page.locator(".downloads").all()
    )
    assert goes == ["take_away-release", "take_away-public", "take_away-recipe"]
    assert {f"take_away-{what}" for what in WHAT} - {*goes} <= {*stays}
    assert not {*goes} & {*stays}


WHAT = ("release", "public", "recipe", "report", "scenario", "script", "commands", "log")


def _accept(hand: Hand) -> None:
    """Tick that a release beyond a limit is taken."""
    if hand.page.is_visible("#take_away-accept") and not hand.page.is_checked("#take_away-accept"):
        hand.press("Take it all the same")


SCRIPT.elsewhere(
    "tests/app/test_browser_by_hand.py::test_by_mouse_and_in_german",
    "The released file as CSV, Parquet, Arrow, SPSS or Stata; the report with its decision page as HTML, PDF "
    "(printed by a Chromium of this machine) or Word (extra docx); scenario, recipe and log; each hierarchy that the"
    " recipe reads.",
)


SCRIPT.elsewhere(
    SESSIONS + "test_taking_away.py::test_a_release_beyond_a_limit_is_taken_only_where_somebody_says_so",
    "A release that is not within the limits is handed out only where you tick that it shall be; it is then "
    "called release-limits-exceeded, script and command lines say so, and nothing is listed as what may go out.",
)


@SCRIPT.step(
    "Save the project writes roles, limits, steps, versions and their hierarchies into one file, project.sdckit, to "
    "carry on elsewhere: page File takes it up (Take up a project), and it waits there for its file of records."
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
    assert steps_of(beside) == steps_of(hand)
    beside.go("file")
    beside.press("Open the demo")
    beside.send("#file-project", hand.kept["project"])
    beside.reads("stands among the versions", place="#file-project_fault")
    beside.go("protect")
    beside.press("Versions")
    beside.reads("people.csv", "Its roles name columns that this file does not have.", place="#protect-versions")


@SCRIPT.step("It is JSON text and holds no record, no secret and no figure.")
def _(hand: Hand) -> None:
    project = json.loads(hand.kept["project"].read_text(encoding="utf-8"))
    log = json.loads(hand.kept["taken"]["log"].read_text(encoding="utf-8"))
    assert log["secret"] not in json.dumps(project)


PROJECTS = SESSIONS + "test_projects.py::"
SCRIPT.elsewhere(
    PROJECTS + "test_lines_of_few_records_stay_out_and_those_of_bands_are_built_again",
    "Of its hierarchies the lines of values that fewer than five records have, or fewer than k, are not in it.",
    "The release is the same then.",
)
SCRIPT.elsewhere(
    PROJECTS + "test_codes_are_built_again_also_behind_another_hierarchy_and_without_a_file_all_stays_out",
    "They are built again as the project is taken up beside the file of records: where every value that was left out "
    "stands for itself, or its names are its code with the end cut off, or bands of numbers that are in the project.",
    "A hierarchy whose file is not there is in no project, only its name is.",
)
SCRIPT.elsewhere(
    "tests/app/test_browser_hierarchies.py::test_hierarchies_are_built_by_clicking_and_go_along",
    "The page says of each hierarchy how many they are, and what becomes of them:",
    "Otherwise a step stops there: a value in no line is refused, as ever.",
    "The page that took the project up names these hierarchies; edit the step and press “Add them as groups”, or "
    "choose the file of the hierarchy, which page Take away offers.",
)
SCRIPT.elsewhere(
    PROJECTS + "test_with_the_rare_lines_it_is_confidential_and_whole",
    "Tick that the lines go, too, and the project has them all; it is called project-confidential.sdckit then, and is "
    "marked inside.",
)


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
    assert hand.kept["before"][-1].startswith("The release:")
    hand.page = page.context.new_page()
    for left in (page, beside):
        left.close()
    hand.page.goto(hand.served.origin + "/")
    hand.page.wait_for_selector(READY)


def _state(hand: Hand) -> list[Any]:
    """What is there to come back to."""
    undo, verdict = (hand.text(place) for place in ("#page_protect button[data-act=undo]", "#verdict_bar"))
    return [steps_of(hand), undo, verdict]


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
    " Go on with it brings back roles, steps, release with its verdict, and what can be undone; Remove it ends it; "
    "its scenario and recipe are what is saved then."
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
    hand.go("take_away")
    _accept(hand)
    hand.page.wait_for_selector("#take_away-release")


SCRIPT.elsewhere(
    "tests/app/test_frame.py::test_work_of_a_tab_that_is_gone_is_offered_in_every_new_one",
    "A new tab offers the work that no tab has open, with its file, the number of its steps and when it was left:"
    " Go on with it brings back roles, steps, release with its verdict, and what can be undone; Remove it ends it; "
    "its scenario and recipe are what is saved then.",
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

SCRIPT.elsewhere(
    "tests/app/test_browser_map.py::test_a_proposal_by_another_loss_and_the_map_of_it",
    "A list below its button says by which loss it is drawn the next time.",
)
