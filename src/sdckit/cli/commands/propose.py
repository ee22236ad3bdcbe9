"""``sdckit propose``: the recipe that loses least while every threshold holds."""

from __future__ import annotations

import json as as_json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sdckit.cli import outputs, recipe_files
from sdckit.cli.errors import BAD_INPUT, EXCEEDED, OK, tell
from sdckit.cli.options import Quiet, ReleaseType, Texts, codes, make_scenario, option, split, split_named
from sdckit.cli.outputs import TO_STDOUT as STDOUT
from sdckit.cli.progress import Steps
from sdckit.cli.source import Reading, takes
from sdckit.display import counted
from sdckit.errors import ScenarioError
from sdckit.workflow.recipes.release_files import check_ledger

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.proposing.proposal import Alternative, Proposal


@takes(ReleaseType, Reading)
def propose(
    of_type: ReleaseType,
    reading: Reading,
    *,
    scenario: Annotated[Path, option("propose", "--scenario")],
    out: Annotated[str, option("propose", "--out", "-o")] = STDOUT,
    force: Annotated[bool, option("propose", "--force")] = False,
    keep: Annotated[Texts, option("propose", "--keep")] = None,
    importance: Annotated[Texts, option("propose", "--importance")] = None,
    allow: Annotated[Texts, option("propose", "--allow")] = None,
    share: Annotated[float, option("propose", "--share")] = 1.0,
    loss: Annotated[str, option("propose", "--loss")] = "information",
    formula: Annotated[str | None, option("propose", "--formula")] = None,
    family: Annotated[str, option("propose", "--family")] = "linear",
    alternatives: Annotated[int, option("propose", "--alternatives")] = 3,
    time_limit: Annotated[float | None, option("propose", "--time-limit")] = None,
    control: Annotated[Path | None, option("propose", "--control")] = None,
    json: Annotated[str | None, option("propose", "--json")] = None,
    report: Annotated[Path | None, option("propose", "--report")] = None,
    internal: Annotated[bool, option("propose", "--internal")] = False,
    quiet: Quiet = False,
) -> int:
    """Search for the recipe that loses least of what the keys tell while every threshold holds.

    Each step has a comment that says why it is there. FILE is only read. Exit code 0 where every threshold holds; 1
    where one does not: the recipe is what came nearest; 2 for bad input, or a threshold that could not be checked.
    """
    file, target = reading.file, Path(out)
    outputs.check_targets(out, json, report, inputs=(file, scenario, of_type.release_types, control))
    outputs.refuse_existing(out, json, force=force)
    outputs.check_report_name(report)
    chosen = make_scenario(scenario, missing_codes=codes(reading.missing), **of_type.entries)
    check_ledger(chosen)
    called = recipe_files.next_commands(out, reading, of_type, scenario)
    wishes: dict[str, Any] = {
        "keep": split(keep), "importance": _numbers(importance),
        "allow": split_named(allow, option="--allow", example="job=pram"), "share": share,
        "loss": loss, "formula": formula, "family": family,
        "alternatives": alternatives, "time_limit": time_limit, "internal": internal,
        "folder": Path() if out == STDOUT else target.parent,
    }  # fmt: skip
    from sdckit.data.files.readers import scan_header

    with Steps(quiet=quiet) as steps:
        frame = _read(file, reading, chosen, steps, **reading.how)
        columns = tuple(scan_header(file, **reading.how).columns)
        if report is not None:
            outputs.check_enough_records(frame.height, internal=internal)
        people = None if control is None else _read(control, reading, chosen, steps, **reading.beside(control).how)
        from sdckit.workflow.proposing.propose import make_proposal

        proposal = make_proposal(
            frame, chosen, columns=columns, control=people, step=steps.step, then=["Then:", *called], **wishes,
            passing=None if out == STDOUT else partial(_first, target=target, quiet=quiet, internal=internal, seen=[]),
        )  # fmt: skip
        if report is not None:
            steps.step("writing the report")
            _report(proposal, frame, chosen, report, internal=internal)
    if json is not None:
        text = as_json.dumps(proposal.to_dict(internal=internal), indent=2, ensure_ascii=False)
        outputs.written(json, f"{text}\n", private=internal)
    _tell(proposal, out, target, quiet=quiet, internal=internal, called=called)
    if proposal.unjudged:
        return BAD_INPUT
    return OK if proposal.passed else EXCEEDED


def _first(passing: Alternative, *, target: Path, quiet: bool, internal: bool, seen: list[Alternative]) -> None:
    """Write the first recipe that holds every threshold, which the best one replaces once the search has ended."""
    if not seen:
        seen.append(passing)
        outputs.write_text(target, passing.recipe.to_toml(), private=internal)
        if not quiet:
            every = "every threshold" if passing.passed else "every threshold that can be judged"
            tell(f"{target.name} has a first recipe that holds {every}: {passing.words.partition(': ')[2]}.")
            tell("The search goes on for one that loses less, and replaces it then; --time-limit 60 ends it sooner.")


def _read(path: Path, reading: Reading, chosen: Scenario, steps: Steps, **how: Any) -> Any:
    """A file with all of its columns but its identifiers."""
    from sdckit.workflow.recipes.recipe import Recipe

    return recipe_files.read_all(
        path, reading, steps=steps, recipe=Recipe([{"method": "random_order"}]), scenario=chosen,
        leave_out=chosen.identifiers, **how,
    )  # fmt: skip


def _report(proposal: Proposal, frame: Any, chosen: Scenario, path: Path, *, internal: bool) -> None:
    """Report on a release that the recipe makes; identifiers were not read and need not be left out."""
    from sdckit.data.methods import METHODS
    from sdckit.workflow.recipes.recipe import Recipe

    unread = {*chosen.identifiers} - {*frame.columns}
    paragraphs = [
        (step, why)
        for step, why in zip(proposal.recipe.steps, proposal.reasons, strict=True)
        if METHODS[step.method].effect != "gone" or not {*step.arguments["columns"]} & unread
    ]
    steps = [{"method": step.method, **step.arguments} for step, _ in paragraphs]
    made = proposal.recipe
    recipe = Recipe(steps, title=made.title, folder=made.folder, derived=made.derived)
    assessed = recipe.apply(frame, scenario=chosen.changed(identifiers=())).assess()
    assert assessed.what_was_done is not None
    searched = {**proposal.searched(internal=internal), "reasons": tuple(why for _, why in paragraphs)}
    replace(assessed, what_was_done=replace(assessed.what_was_done, searched=searched)).report(path, internal=internal)


def _numbers(named: list[str] | None) -> dict[str, float]:
    numbers = {}
    for key, value in split_named(named, option="--importance", example="age=1").items():
        try:
            numbers[key] = float(value)
        except ValueError:
            raise ScenarioError(f"--importance {key} takes a number, as in --importance {key}=2") from None
    return numbers


def _tell(proposal: Proposal, out: str, target: Path, *, quiet: bool, internal: bool, called: list[str]) -> None:
    """Print or write the recipe, and say what it came to."""
    if not outputs.written(out, proposal.text, private=internal) or quiet:
        return
    missed = {"Thresholds that do not hold": proposal.exceeded, "Not judged": proposal.unjudged}
    holds = [f"{words}: {', '.join(names)}." for words, names in missed.items() if names] or ["Every threshold holds."]
    tell(f"Wrote {target.name}: {counted(len(proposal.recipe.steps), 'step')}. {' '.join(holds)}")
    tell(f"It {proposal.words}." if proposal.words.startswith(("keeps", "gives")) else f"{proposal.words}.")
    for words in filter(None, (proposal.kept, proposal.caution)):
        tell(f"{words}.")
    for alternative in proposal.alternatives:
        state = "" if alternative.passed else "; a threshold does not hold, or is not judged"
        tell(f"Another: {alternative.words}{state}.")
    tell("Read it through. Then:")
    tell("\n".join(called))
