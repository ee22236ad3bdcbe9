"""``sdckit assess``: the main job on a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.cli.options import Decimal, Delimiter, Encoding, File, Missing, Quiet, codes, make_scenario, split
from sdckit.cli.outputs import STDOUT, check_enough_records, check_report_name, check_targets
from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared

if TYPE_CHECKING:
    from sdckit.data.scenario import Scenario
    from sdckit.workflow.assess import Assessment

__all__ = ["assess", "deliver"]

ROLES = "What the columns are"
LIMITS = "Thresholds"
OUTPUT = "Where the answer goes"


def assess(
    file: File,
    *,
    keys: Annotated[
        list[str] | None,
        typer.Option("--keys", metavar="A,B", help="What an intruder could know.", rich_help_panel=ROLES),
    ] = None,
    intruder: Annotated[
        list[str] | None,
        typer.Option(
            "--intruder", metavar="NAME=A,B", help="One of several intruders.", rich_help_panel=ROLES
        ),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="W", help="Sampling weights.", rich_help_panel=ROLES)
    ] = None,
    sampling_fraction: Annotated[
        float | None,
        typer.Option(metavar="X", help="Share of the population in the file.", rich_help_panel=ROLES),
    ] = None,
    household: Annotated[
        str | None, typer.Option(metavar="HH", help="Who lives together.", rich_help_panel=ROLES)
    ] = None,
    person: Annotated[
        str | None,
        typer.Option(metavar="P", help="Which rows are one person.", rich_help_panel=ROLES),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="What an intruder would learn.", rich_help_panel=ROLES),
    ] = None,
    numeric: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Numeric variables, for outliers.", rich_help_panel=ROLES),
    ] = None,
    identifiers: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Names and numbers; never read.", rich_help_panel=ROLES),
    ] = None,
    scenario: Annotated[
        Path | None,
        typer.Option(metavar="S.toml", help="Take all this from a file; options win.", rich_help_panel=ROLES),
    ] = None,
    measures: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Also run suda, population_risk, population_uniques, risky_cells, outliers, or all.",
            rich_help_panel=ROLES,
        ),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", metavar="K", help="k-anonymity to hold.", rich_help_panel=LIMITS)
    ] = None,
    risk: Annotated[
        float | None, typer.Option(metavar="R", help="Largest individual risk.", rich_help_panel=LIMITS)
    ] = None,
    l: Annotated[  # noqa: E741 - the name the literature uses
        int | None, typer.Option("--l", metavar="L", help="ℓ-diversity to hold.", rich_help_panel=LIMITS)
    ] = None,
    global_risk: Annotated[
        float | None, typer.Option(metavar="R", help="Largest mean risk.", rich_help_panel=LIMITS)
    ] = None,
    household_risk: Annotated[
        float | None, typer.Option(metavar="R", help="Largest household risk.", rich_help_panel=LIMITS)
    ] = None,
    missing: Missing = None,
    missing_rule: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help="What a missing key value is: wildcard, category or error; key=rule for one key.",
            rich_help_panel=ROLES,
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="A", help="Weight of a match by wildcard, 0 to 1.", rich_help_panel=ROLES),
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="OUT.html", help="Write the report.", rich_help_panel=OUTPUT),
    ] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="OUT.json|-", help="Write JSON; - prints it.", rich_help_panel=OUTPUT),
    ] = None,
    internal: Annotated[
        bool,
        typer.Option(
            "--internal", help="Exact figures in report and JSON: confidential.", rich_help_panel=OUTPUT
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what would run; read only the header and the number of records.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Assess a file: who can be recognised, how surely, what would be learnt.

    Exit code 0 when it ran, whatever the verdict; 2 for bad input.
    """
    chosen = make_scenario(
        scenario,
        keys=keys,
        intruders=intruder,
        missing_rule=missing_rule,
        thresholds={
            "k": k,
            "risk": risk,
            "l": l,
            "global_risk": global_risk,
            "household_risk": household_risk,
        },
        weight=weight,
        sampling_fraction=sampling_fraction,
        household=household,
        person=person,
        sensitive=split(sensitive),
        numeric=split(numeric),
        identifiers=split(identifiers),
        missing_codes=codes(missing),
        alpha=alpha,
    )
    asked = further_measures(measures)
    check_targets(report, json, inputs=(file, scenario))
    check_report_name(report)
    if dry_run:
        _print_plan(file, chosen, asked, delimiter=delimiter, encoding=encoding)
        return
    with Steps(quiet=quiet) as steps:
        result = run(
            file, chosen, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal,
            documents=bool(report or json), internal=internal, measures=asked,
        )  # fmt: skip
        steps.step("writing the report")
        if report is not None:
            result.report(report, internal=internal)
        if json is not None:
            result.to_json(json, internal=internal)
    if not quiet and json != STDOUT:
        deliver(result, name=file.name, report=report)


def run(
    file: Path,
    scenario: Scenario,
    *,
    steps: Steps,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    documents: bool = False,
    internal: bool = False,
    measures: Sequence[str] = (),
) -> Assessment:
    """Read the declared columns of a file and assess them."""
    frame = read_declared(
        file, scenario, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal
    )
    if documents:
        check_enough_records(frame.height, internal=internal)
    steps.step(f"assessing {frame.height:,} records")
    from sdckit.workflow.assess import assess as assess_frame

    return assess_frame(frame, scenario=scenario, measures=measures, step=steps.step)


def deliver(result: Assessment, *, name: str, report: Path | None, note: str = "") -> None:
    """Print the tables, where the report went, and a last word."""
    from sdckit.cli.tables import assessment_tables, make_console

    console = make_console()
    console.print(assessment_tables(result, name=name))
    if report is not None:
        console.print(f"\nReport written: {report.name}")
    if note:
        console.print(f"\n{note}")


def further_measures(measures: list[str] | None) -> tuple[str, ...]:
    """Read ``--measures``; a wrong name is told before the file is read."""
    names = split(measures)
    if not names:
        return ()
    from sdckit.workflow.extra_measures import chosen_measures

    return chosen_measures(names)


def _print_plan(
    file: Path, scenario: Scenario, measures: Sequence[str], *, delimiter: str | None, encoding: str | None
) -> None:
    from sdckit.cli.plan import plan_lines
    from sdckit.data.readers import scan_header

    header = scan_header(file, delimiter=delimiter, encoding=encoding)
    scenario.check_columns(header.columns, certain=header.certain)
    for line in plan_lines(file, header, scenario, measures):
        typer.echo(line)
