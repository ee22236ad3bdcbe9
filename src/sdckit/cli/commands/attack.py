"""``sdckit attack``: let simulated intruders loose on a release, beside guessing and beside people never in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.cli.attack_files import read_attacked
from sdckit.cli.attack_plan import LINKAGE, make_plan
from sdckit.cli.attack_runs import run_attacks
from sdckit.cli.options import split
from sdckit.cli.outputs import STDOUT, check_enough_records, check_targets
from sdckit.cli.source import Source, reads_a_file
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.cli.attack_files import Attacked
    from sdckit.cli.attack_plan import Plan
    from sdckit.cli.attack_runs import Runs
    from sdckit.workflow.release_attacks import Asked

__all__ = ["attack"]


@reads_a_file
def attack(
    source: Source,
    *,
    released: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="The file made from FILE; several synthetic ones by repeating it."),
    ],
    control: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="People of the same kind who were never used to make it."),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="singling-out, linkability, probabilistic-linkage, inference, membership or distances; all that "
            "apply unless given.",
        ),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="What an intruder knows. Twice for linkability: the columns of two pieces of knowledge.",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="T", help="What they infer; several columns one by one."),
    ] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Columns of the other attacks; all that the files share unless given."
        ),
    ] = None,
    identifiers: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Names and numbers; never read.")
    ] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Also attack the groups of these, each alone.")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="Says which rows belong together: links records despite slips."
        ),
    ] = None,
    aligned: Annotated[
        bool, typer.Option("--aligned", help="The same where row i of a release was made from row i of FILE.")
    ] = False,
    blocking: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Link only records that agree on these, or on those of another --blocking."
        ),
    ] = None,
    n_attacks: Annotated[int, typer.Option(metavar="N", help="Attempts of each attack.")] = 500,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Same seed, same attempts.")] = None,
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="OUT.json|-", help="Write protected figures as JSON; - prints it."),
    ] = None,
    internal: Annotated[
        bool, typer.Option("--internal", help="Exact figures in the JSON: confidential.")
    ] = False,
) -> None:
    """Attack a release of FILE: single out, link, infer, tell members, measure distances.

    The tables are exact, for your own session; those of --by show values of its columns. Exit code 0 when it
    ran, whatever the verdict; 2 for bad input.
    """
    _check_numbers(n_attacks, seed)
    inputs = (source.file, source.scenario, control, *released)
    check_targets(json, inputs=inputs)
    stored = None
    if source.scenario is not None:
        from sdckit.data.scenario import Scenario

        stored = Scenario.from_toml(source.scenario)
    plan = make_plan(
        kinds=split(kind), known=[split([one]) for one in known or ()], targets=split(target),
        has_control=control is not None, by=split(by), id=id, aligned=aligned,
        blocking=[split([one]) for one in blocking or ()], scenario=stored,
    )  # fmt: skip
    with source.steps() as steps:
        files = read_attacked(
            source, released, control, plan=plan, variables=split(variables), identifiers=split(identifiers),
            scenario=stored, steps=steps,
        )  # fmt: skip
        if json is not None:
            for one in (files.original, *files.released):
                check_enough_records(one.height, internal=internal)
        asked = aligned or id is not None or LINKAGE in split(kind)
        runs = run_attacks(files, plan, n_attacks=n_attacks, seed=seed, asked=asked, steps=steps)
        if json is not None:
            how = _asked(files, plan, n_attacks=n_attacks, seed=seed)
            _write_json(runs, files, json, how, internal=internal)
    if json == STDOUT:
        return
    from sdckit.cli.attack_tables import attack_tables
    from sdckit.cli.formats import make_console

    make_console().print(attack_tables(runs, files, name=source.file.name, by=plan.by))


def _asked(files: Attacked, plan: Plan, *, n_attacks: int, seed: int | None) -> Asked:
    from sdckit.workflow.release_attacks import COLUMNS_AT_ONCE, Asked

    halves = {"default": (plan.sides[0], plan.sides[1])} if "linkability" in plan.kinds else {}
    several = min(COLUMNS_AT_ONCE, len(files.variables)) if "singling-out" in plan.kinds else 1
    return Asked(files.variables, None, several if several > 1 else None, halves, n_attacks, seed)


def _write_json(runs: Runs, files: Attacked, target: str, asked: Asked, *, internal: bool) -> None:
    from sdckit.report.atomic import write_whole
    from sdckit.report.json_out import render_json
    from sdckit.report.sections_attacks import plain_attacks

    text = render_json(
        plain_attacks(
            {one.place: one.result for one in runs.made},
            skipped=[(place, reason) for place, _, reason in runs.skipped], control=files.control is not None,
            n=files.original.height, sizes=[one.height for one in files.released], asked=asked, internal=internal,
        )
    )  # fmt: skip
    if target == STDOUT:
        typer.echo(text, nl=False)
    else:
        write_whole(text, target, private=internal, what="JSON")


def _check_numbers(n_attacks: int, seed: int | None) -> None:
    if n_attacks < 1:
        raise ScenarioError("--n-attacks counts attempts; give a whole number of 1 or more")
    if seed is not None and seed < 0:
        raise ScenarioError("--seed takes a whole number of 0 or more")
