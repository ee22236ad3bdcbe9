"""``sdckit check``: the release gate. It fails closed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from sdckit.cli.errors import BAD_INPUT, EXCEEDED, OK, say, tell
from sdckit.cli.options import Quiet, codes
from sdckit.cli.progress import Steps
from sdckit.cli.reading import GivenLog, GivenRecipe
from sdckit.cli.release_type import ReleaseType
from sdckit.cli.source import Reading, takes
from sdckit.cli.whole_population import whole_population

if TYPE_CHECKING:
    from sdckit.workflow.check import CheckResult

__all__ = ["check", "exit_code"]


@takes(ReleaseType, Reading)
def check(
    of_type: ReleaseType,
    reading: Reading,
    *,
    scenario: Annotated[
        Path, Option(metavar="S.toml", help="The scenario: its thresholds, or its type of release.")
    ],
    released: Annotated[
        list[Path] | None,
        Option(metavar="FILE", help="What is to go out, made from FILE; the gate judges it."),
    ] = None,
    id: Annotated[
        str | None, Option("--id", metavar="COLUMN", help="Says which rows belong together.")
    ] = None,
    control: Annotated[
        Path | None,
        Option(metavar="FILE", help="People never used to make it: thresholds on attacks need them."),
    ] = None,
    seed: Annotated[int | None, Option(metavar="N", help="Same seed, same attacks.")] = None,
    recipe: GivenRecipe = None,
    log: GivenLog = None,
    quiet: Quiet = False,
) -> int:
    """Check a file, or a release against its original, against every threshold of a scenario.

    Exit code 0 within every declared threshold; 1 a threshold exceeded; 2 bad input, or a threshold that
    could not be checked; 3 internal error.
    """
    from sdckit.cli.options import make_scenario
    from sdckit.workflow.check import check_assessment, require_gate

    chosen = make_scenario(
        scenario, keys=None, intruders=None, missing_rule=None, thresholds={},
        missing_codes=codes(reading.missing), **of_type.entries,
    )  # fmt: skip
    require_gate(chosen, compared=bool(released))
    with Steps(quiet=quiet) as steps:
        from sdckit.cli.commands.assess import Release, run

        release = Release(released=released, id=id, control=control, seed=seed, recipe=recipe, log=log)
        release.check(reading.file)
        assessment = run(reading, chosen, release, steps=steps)
        result = check_assessment(assessment)
    if not quiet:
        _print(result, reading.file.name)
    for verdict in result.undefined:
        whom = f"threshold {verdict.name} for intruder '{verdict.intruder}'"
        say(f"error: {whom} could not be checked: {verdict.reason}")
    return exit_code(result)


def exit_code(result: CheckResult) -> int:
    """Give 0 only where every threshold was checked and holds."""
    if result.undefined:
        return BAD_INPUT
    return OK if result.passed else EXCEEDED


def _print(result: CheckResult, name: str) -> None:
    from sdckit.cli.terminal import print_blocks
    from sdckit.report.blocks import Paragraph, Verdicts
    from sdckit.report.chapters.release_types import limits_tree, release_sentence

    compared = hasattr(result.assessment, "released")
    told = release_sentence(limits_tree(result.assessment.scenario, compared=compared))
    several = len({verdict.intruder for verdict in result.verdicts}) > 1
    items = ((one.word, one.intruder if several else "", one.sentence) for one in result.verdicts)
    print_blocks([*([Paragraph(told)] if told else []), Verdicts(tuple(items))])
    if taken := whole_population(result.assessment.scenario, name):
        tell(taken)
    tell(f"{name}: {'passed' if result.passed else 'NOT passed'}")
