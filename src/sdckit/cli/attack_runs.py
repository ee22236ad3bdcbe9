"""Make the attacks of ``sdckit attack``, each with its place in a document and its name in the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sdckit.cli.attack_plan import LINKAGE
from sdckit.errors import DataError, SdcError

if TYPE_CHECKING:
    from sdckit.cli.attack_files import Attacked
    from sdckit.cli.attack_plan import Plan
    from sdckit.cli.attack_tables import AnyAttack
    from sdckit.cli.progress import Steps

__all__ = ["Made", "Runs", "run_attacks"]

OPTIONS = {
    " id=": " --id",
    "blocking=": "--blocking",
    "[['region'], ['birth']]": "--blocking region --blocking birth",
}


@dataclass(frozen=True, eq=False)
class Made:
    """One attack.

    Attributes
    ----------
    place : str
        As in the documents of `assess`: ``inference:default:income``.
    words : str
        In a table.
    result
        What the attack returned.
    """

    place: str
    words: str
    result: AnyAttack


@dataclass(frozen=True, eq=False)
class Runs:
    """The attacks made, and (place, words, reason) of those that were not."""

    made: tuple[Made, ...]
    skipped: tuple[tuple[str, str, str], ...] = ()


def run_attacks(
    files: Attacked, plan: Plan, *, n_attacks: int, seed: int | None, asked: bool, steps: Steps
) -> Runs:
    """Make every attack of the plan.

    Parameters
    ----------
    files : Attacked
    plan : Plan
    n_attacks : int
    seed : int or None
    asked : bool
        Whether linkage by agreement weights was asked for; else one that cannot be made is told, not raised.
    steps : Steps

    Raises
    ------
    SdcError
        As the attacks.
    """
    made: list[Made] = []
    skipped: list[tuple[str, str, str]] = []
    drawn = {"control": files.control, "n_attacks": n_attacks, "seed": seed, "by": plan.by or None}
    for kind in plan.kinds:
        steps.step(f"attacking: {kind}")
        if kind != LINKAGE:
            made += _made(kind, files, plan, drawn)
            continue
        place, words = "probabilistic_linkage:default", "linkage despite slips"
        try:
            made.append(Made(place, words, _linked(files, plan, seed)))
        except SdcError as error:
            if asked:
                raise
            skipped.append((place, words, str(error)))
    return Runs(tuple(made), tuple(skipped))


def _linked(files: Attacked, plan: Plan, seed: int | None) -> AnyAttack:
    from sdckit.attacks.probabilistic_linkage import probabilistic_linkage

    try:
        return probabilistic_linkage(
            files.original, files.released, variables=plan.known, numeric=files.numeric(plan.known),
            blocking=plan.blocking or None, seed=seed, id=files.id,
        )  # fmt: skip
    except DataError as error:  # the sentence is written for Python; here the same are options
        text = str(error)
        for argument, option in OPTIONS.items():
            text = text.replace(argument, option)
        raise DataError(text) from None


def _made(kind: str, files: Attacked, plan: Plan, drawn: dict[str, Any]) -> Iterator[Made]:
    from sdckit.attacks.distance_to_closest_record import distance_to_closest_record
    from sdckit.attacks.inference import inference
    from sdckit.attacks.linkability import linkability
    from sdckit.attacks.membership import membership

    names = files.variables
    if kind == "distances":
        alike = {name: drawn[name] for name in ("control", "seed", "by")}
        near = distance_to_closest_record(
            files.original, files.released, variables=names, numeric=files.numeric(names), **alike
        )
        yield Made("distance_to_closest_record", kind, near)
    elif kind == "membership":
        told = membership(
            files.original, files.released, variables=names, numeric=files.numeric(names), **drawn
        )
        yield Made("membership", kind, told)
    elif kind == "linkability":
        first, second = plan.sides
        numbers = files.numeric([*first, *second])
        joined = linkability(files.original, files.released, known=(first, second), numeric=numbers, **drawn)
        yield Made("linkability:default", kind, joined)
    elif kind == "inference":
        for target in plan.targets:
            known = plan.known_for(target)
            guessed = inference(
                files.original, files.released, known=known, target=target,
                numeric=files.numeric([*known, target]), **drawn,
            )  # fmt: skip
            yield Made(f"inference:default:{target}", f"inference of {target}", guessed)
    else:
        yield from _singled_out(files, drawn)


def _singled_out(files: Attacked, drawn: dict[str, Any]) -> Iterator[Made]:
    from sdckit.attacks.singling_out import singling_out
    from sdckit.workflow.release_attacks import COLUMNS_AT_ONCE

    names = files.variables
    one = singling_out(files.original, files.released, variables=names, **drawn)
    yield Made("singling_out:univariate", "singling out, one column", one)
    if (k := min(COLUMNS_AT_ONCE, len(names))) > 1:
        several = singling_out(
            files.original, files.released, variables=names, mode="multivariate", n_columns=k, **drawn
        )
        yield Made("singling_out:multivariate", f"singling out, {k} columns", several)
