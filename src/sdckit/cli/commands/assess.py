"""``sdckit assess``: the main job on a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.catalogue import further
from sdckit.cli.attack_files import check_attack_options
from sdckit.cli.options import Decimal, Delimiter, Encoding, File, Missing, Quiet, codes, make_scenario, split
from sdckit.cli.outputs import STDOUT, check_enough_records, check_report_name, check_targets
from sdckit.cli.progress import Steps
from sdckit.cli.reading import read_declared, read_release
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario
    from sdckit.workflow.assessment import Assessment
    from sdckit.workflow.release_assessment import ReleaseAssessment

__all__ = ["assess", "deliver"]

ROLES = "What the columns are"
LIMITS = "Thresholds"
RELEASE = "A release against its original"
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
        str | None, typer.Option(metavar="P", help="Which rows are one person.", rich_help_panel=ROLES)
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
        typer.Option(metavar="A,B", help=f"Also run {', '.join(further())}, or all.", rich_help_panel=ROLES),
    ] = None,
    released: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A file made from FILE that is to go out; several synthetic ones by repeating it.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="Says which rows belong together.", rich_help_panel=RELEASE
        ),
    ] = None,
    aligned: Annotated[
        bool,
        typer.Option(
            "--aligned", help="Row i of a release was made from row i of FILE.", rich_help_panel=RELEASE
        ),
    ] = False,
    model: Annotated[
        list[str] | None,
        typer.Option(
            "--model",
            metavar="FORMULA",
            help="A regression that users will fit: 'income ~ age + sex', or 'logistic: ill ~ age'.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="For what is random in the comparison.", rich_help_panel=RELEASE),
    ] = None,
    control: Annotated[
        Path | None,
        typer.Option(
            "--control",
            metavar="FILE",
            help="People of the same kind who were never used to make it; starts simulated attacks.",
            rich_help_panel=RELEASE,
        ),
    ] = None,
    attacks: Annotated[
        bool,
        typer.Option(
            "--attacks", help="Make the simulated attacks without --control, too.", rich_help_panel=RELEASE
        ),
    ] = False,
    n_attacks: Annotated[
        int | None,
        typer.Option(
            "--n-attacks", metavar="N", help="Attempts of each attack: 500.", rich_help_panel=RELEASE
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
    match_risk: Annotated[
        float | None,
        typer.Option(metavar="R", help="Largest share of rows matched back.", rich_help_panel=LIMITS),
    ] = None,
    replicated_uniques: Annotated[
        float | None,
        typer.Option(metavar="R", help="Largest share unique in both files.", rich_help_panel=LIMITS),
    ] = None,
    correctly_disclosed: Annotated[
        float | None,
        typer.Option(metavar="R", help="Largest share disclosed correctly.", rich_help_panel=LIMITS),
    ] = None,
    residual_risk: Annotated[
        float | None,
        typer.Option(metavar="R", help="Largest residual risk of an attack.", rich_help_panel=LIMITS),
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
        Path | None, typer.Option(metavar="OUT.html", help="Write the report.", rich_help_panel=OUTPUT)
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
    """Assess a file, or a release against its original: who can be recognised, what would be learnt.

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
            "match_risk": match_risk,
            "replicated_uniques": replicated_uniques,
            "correctly_disclosed": correctly_disclosed,
            "residual_risk": residual_risk,
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
        aligned=aligned or None,
    )
    models = read_models(model)
    others = check_release_options(file, released, id=id, aligned=aligned or bool(models), seed=seed)
    check_attack_options(file, others, control, attacks=attacks, n_attacks=n_attacks)
    asked = further_measures(measures)
    check_targets(report, json, inputs=(file, scenario, control, *others))
    check_report_name(report)
    if dry_run:
        from sdckit.cli.plan import print_plan

        print_plan(
            file, chosen, asked, delimiter=delimiter, encoding=encoding, released=others, control=control, id=id,
            attacks=attacks, n_attacks=n_attacks, models=models,
        )  # fmt: skip
        return
    with Steps(quiet=quiet) as steps:
        result = run(
            file, chosen, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal,
            documents=bool(report or json), internal=internal, measures=asked, released=others, id=id, seed=seed,
            models=models, control=control, attacks=attacks, n_attacks=n_attacks,
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
    released: Sequence[Path] = (),
    id: str | None = None,
    seed: int | None = None,
    models: Mapping[str, str] | None = None,
    control: Path | None = None,
    attacks: bool = False,
    n_attacks: int | None = None,
) -> Assessment | ReleaseAssessment:
    """Read the declared columns of a file, and of its releases, and assess them."""
    more = (id,) if id is not None else ()
    frame = read_declared(
        file, scenario, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal, also=more
    )
    others = [
        read_release(
            one, scenario, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal, also=more
        )
        for one in released
    ]
    people = None
    if control is not None:
        people = read_release(
            control, scenario, steps=steps, delimiter=delimiter, encoding=encoding, decimal=decimal
        )
    if documents:
        for height in (frame.height, *(one.height for one in others)):
            check_enough_records(height, internal=internal)
    steps.step(f"assessing {frame.height:,} records")
    from sdckit.workflow.assess import assess as assess_frame

    if others:
        return assess_frame(
            frame,
            others,
            scenario=scenario,
            measures=measures,
            id=id,
            seed=seed,
            models=models or (),
            control=people,
            attacks=attacks,
            n_attacks=500 if n_attacks is None else n_attacks,
            step=steps.step,
        )
    return assess_frame(frame, scenario=scenario, measures=measures, step=steps.step)


def read_models(texts: Sequence[str] | None) -> dict[str, str]:
    """Read ``--model``: a formula, with its family and a colon before it where it is not linear.

    Examples
    --------
    >>> read_models(["income ~ age", "logistic: ill ~ age:sex"])
    {'income ~ age': 'linear', 'ill ~ age:sex': 'logistic'}
    """
    found = {}
    for text in texts or ():
        family, colon, formula = text.partition(":")
        named = bool(colon) and "~" not in family
        found[formula.strip() if named else text.strip()] = family.strip() if named else "linear"
    return found


def check_release_options(
    file: Path, released: Sequence[Path] | None, *, id: str | None, aligned: bool, seed: int | None
) -> tuple[Path, ...]:
    """Refuse options that mean nothing without a release, and a release that is the original itself."""
    others = tuple(released or ())
    if not others and (id is not None or aligned or seed is not None):
        raise ScenarioError(
            "--id, --aligned, --model and --seed compare a release with FILE; give --released FILE"
        )
    for other in others:
        if other.exists() and file.exists() and other.samefile(file):
            raise ScenarioError(f"--released {other.name} is the original itself; give the file made from it")
    return others


def deliver(
    result: Assessment | ReleaseAssessment, *, name: str, report: Path | None, note: str = ""
) -> None:
    """Print the page, where the report went, and a last word."""
    from sdckit.cli.terminal import print_page
    from sdckit.report.screen import screen_page

    print_page(screen_page(result), name=name)
    if report is not None:
        typer.echo(f"\nReport written: {report.name}")
    if note:
        typer.echo(f"\n{note}")


def further_measures(measures: list[str] | None) -> tuple[str, ...]:
    """Read ``--measures``; a wrong name is told before the file is read."""
    names = split(measures)
    if not names:
        return ()
    from sdckit.workflow.plan import chosen_measures

    return chosen_measures(names)
