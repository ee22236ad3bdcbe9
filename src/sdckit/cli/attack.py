"""``sdckit attack``: let simulated intruders loose on a release, beside guessing and beside people never in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdckit.cli.attack_files import read_attacked
from sdckit.cli.attack_plan import Plan, make_plan
from sdckit.cli.options import split
from sdckit.cli.source import Source, reads_a_file
from sdckit.errors import ScenarioError

if TYPE_CHECKING:
    from sdckit.cli.attack_files import Attacked
    from sdckit.cli.attack_tables import Found
    from sdckit.cli.progress import Steps

__all__ = ["attack"]

COLUMNS_AT_ONCE = 3


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
            help="singling-out, linkability, inference, membership or distances; all that apply unless given.",
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
    n_attacks: Annotated[int, typer.Option(metavar="N", help="Attempts of each attack.")] = 500,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Same seed, same attempts.")] = None,
) -> None:
    """Attack a release of FILE: single out, link, infer, tell members, measure distances.

    Exact figures for your own session. Exit code 0 when it ran, whatever the verdict; 2 for bad input.
    """
    _check_numbers(n_attacks, seed)
    stored = None
    if source.scenario is not None:
        from sdckit.data.scenario import Scenario

        stored = Scenario.from_toml(source.scenario)
    plan = make_plan(
        kinds=split(kind), known=[split([one]) for one in known or ()], targets=split(target),
        has_control=control is not None, scenario=stored,
    )  # fmt: skip
    with source.steps() as steps:
        files = read_attacked(
            source, released, control, plan=plan, variables=split(variables), identifiers=split(identifiers),
            scenario=stored, steps=steps,
        )  # fmt: skip
        found = [one for name in plan.kinds for one in _run(name, files, plan, n_attacks, seed, steps)]
    from sdckit.cli.attack_tables import attack_tables
    from sdckit.cli.formats import make_console

    make_console().print(attack_tables(found, files, name=source.file.name))


def _check_numbers(n_attacks: int, seed: int | None) -> None:
    if n_attacks < 1:
        raise ScenarioError("--n-attacks counts attempts; give a whole number of 1 or more")
    if seed is not None and seed < 0:
        raise ScenarioError("--seed takes a whole number of 0 or more")


def _run(
    kind: str, files: Attacked, plan: Plan, n_attacks: int, seed: int | None, steps: Steps
) -> list[Found]:
    """Make the attacks of one kind; each with its name in the tables."""
    from sdckit.attacks.distance_to_closest_record import distance_to_closest_record
    from sdckit.attacks.inference import inference
    from sdckit.attacks.linkability import linkability
    from sdckit.attacks.membership import membership
    from sdckit.attacks.singling_out import singling_out

    steps.step(f"attacking: {kind}")
    original, released, control, names = files.original, files.released, files.control, files.variables
    if kind == "distances":
        near = distance_to_closest_record(
            original, released, control=control, variables=names, numeric=files.numeric(names), seed=seed
        )
        return [("distances", near)]
    if kind == "membership":
        told = membership(
            original, released, control=control, variables=names, numeric=files.numeric(names),
            n_attacks=n_attacks, seed=seed,
        )  # fmt: skip
        return [("membership", told)]
    if kind == "linkability":
        first, second = plan.sides
        joined = linkability(
            original, released, known=(first, second), control=control, numeric=files.numeric([*first, *second]),
            n_attacks=n_attacks, seed=seed,
        )  # fmt: skip
        return [("linkability", joined)]
    if kind == "inference":
        return [
            (f"inference of {target}", inference(
                original, released, known=plan.known_for(target), target=target, control=control,
                numeric=files.numeric([*plan.known_for(target), target]), n_attacks=n_attacks, seed=seed,
            ))
            for target in plan.targets
        ]  # fmt: skip
    found: list[Found] = [
        (
            "singling out, one column",
            singling_out(
                original, released, control=control, variables=names, n_attacks=n_attacks, seed=seed
            ),
        )
    ]
    if (k := min(COLUMNS_AT_ONCE, len(names))) > 1:
        several = singling_out(
            original, released, control=control, variables=names, mode="multivariate", n_columns=k,
            n_attacks=n_attacks, seed=seed,
        )  # fmt: skip
        found.append((f"singling out, {k} columns", several))
    return found
