"""The simulated attacks of an assessment: which ones a scenario permits, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdckit.attacks.distance_to_closest_record import distance_to_closest_record
from sdckit.attacks.inference import inference
from sdckit.attacks.linkability import linkability
from sdckit.attacks.membership import membership
from sdckit.attacks.probabilistic_linkage import ALL_PAIRS as MOST_PAIRS
from sdckit.attacks.probabilistic_linkage import probabilistic_linkage
from sdckit.attacks.singling_out import singling_out
from sdckit.cells.pair import Pair
from sdckit.data.frames import open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenario import Scenario
from sdckit.errors import ColumnError, SdcError
from sdckit.workflow.release_measures import NOT_ALIGNED

__all__ = ["Asked", "Attacks", "attacked_columns", "check_control", "release_attacks"]

COLUMNS_AT_ONCE = 3
ONE_KEY = "there is only one key"
Step = Callable[[str], None]
Attack = Callable[..., Any]
Halves = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Asked:
    """How attacks were asked for: what it takes to judge them, and to make them again.

    Attributes
    ----------
    columns : tuple of str
        Those attacked.
    n_columns : int or None
        Columns of the original; None where it came from a plan, of which only the declared ones were read.
    columns_at_once : int or None
        Columns of a query that singles out by several of them.
    halves : dict of str to (tuple of str, tuple of str)
        The two pieces of knowledge that linkability joins, by intruder.
    n_attacks : int
        Attempts asked for of each attack.
    seed : int or None
    """

    columns: tuple[str, ...]
    n_columns: int | None
    columns_at_once: int | None
    halves: Mapping[str, Halves]
    n_attacks: int
    seed: int | None


@dataclass(frozen=True)
class Attacks:
    """What came of simulated attacks.

    Attributes
    ----------
    results : dict of str to result
        By ``singling_out:univariate``, ``singling_out:multivariate``, ``membership``,
        ``distance_to_closest_record``, ``linkability:intruder``, ``probabilistic_linkage:intruder``,
        ``inference:intruder:variable``.
    skipped : tuple of (str, str)
        What was not done, and why.
    failed : tuple of str
        Those of them that were tried: the release or the control file does not fit.
    asked : Asked
    """

    results: dict[str, Any]
    skipped: tuple[tuple[str, str], ...]
    failed: tuple[str, ...]
    asked: Asked


def attacked_columns(pair: Pair, scenario: Scenario) -> tuple[str, ...]:
    """Keys, sensitive and numeric variables that all files have."""
    named = dict.fromkeys([*scenario.all_keys, *scenario.sensitive, *scenario.numeric])
    present = [set(frame.columns) for frame in (pair.original, *pair.released)]
    return tuple(name for name in named if all(name in columns for columns in present))


def check_control(control: Any, names: Sequence[str]) -> None:
    """Refuse a control file that lacks a column, before any work starts.

    Raises
    ------
    ColumnError
    """
    present = open_frame(control).collect_schema().names()
    if absent := [name for name in names if name not in present]:
        raise ColumnError(f"the control file has no column {absent[0]!r}; {did_you_mean(absent[0], present)}")


def release_attacks(
    pair: Pair,
    scenario: Scenario,
    tell: Step,
    *,
    control: Any = None,
    n_attacks: int = 500,
    seed: int | None = None,
) -> Attacks:
    """Make every attack that the scenario permits; and say which could not be made, and why.

    Linkability splits the keys of an intruder into two halves, in their order; inference takes them as known
    and each sensitive variable as the target; linkage by agreement weights knows them all, and runs where rows
    correspond.

    Parameters
    ----------
    pair : Pair
        Original and releases.
    scenario : Scenario
    tell : callable
        Is told what is being done.
    control : data frame, optional
        People of the same kind who were never used to make a release.
    n_attacks : int
        Attempts of each attack that draws them.
    seed : int, optional
        The same for every attack.

    Returns
    -------
    Attacks
    """
    found: dict[str, Any] = {}
    skipped: list[tuple[str, str]] = []
    failed: list[str] = []
    if control is not None:
        control = open_frame(control)  # once for all attacks
    drawn = {"control": control, "n_attacks": n_attacks, "seed": seed}
    plan = _planned(pair, scenario, drawn, skipped)
    for place, attack, options in plan:
        tell(f"attacking the release: {place.replace('_', ' ').replace(':', ', ')}")
        try:
            found[place] = attack(pair, **options)
        except SdcError as error:
            skipped.append((place, str(error)))
            failed.append(place)
    options_of = {place: options for place, _, options in plan}
    asked = Asked(
        attacked_columns(pair, scenario), None if pair.brought else len(pair.original.columns),
        options_of.get("singling_out:multivariate", {}).get("n_columns"),
        {place.partition(":")[2]: one["known"] for place, one in options_of.items() if place.startswith("linkability")},
        n_attacks, seed,
    )  # fmt: skip
    return Attacks(found, tuple(skipped), tuple(failed), asked)


def _planned(
    pair: Pair, scenario: Scenario, drawn: dict[str, Any], skipped: list[tuple[str, str]]
) -> list[tuple[str, Attack, dict[str, Any]]]:
    names = attacked_columns(pair, scenario)
    every = {"variables": names, **_numbers(scenario, names)}
    alike = {"control": drawn["control"], "seed": drawn["seed"]}
    plan: list[tuple[str, Attack, dict[str, Any]]] = [
        ("singling_out:univariate", singling_out, {"variables": names, **drawn})
    ]
    if (k := min(COLUMNS_AT_ONCE, len(names))) > 1:
        several = {"variables": names, "mode": "multivariate", "n_columns": k, **drawn}
        plan.append(("singling_out:multivariate", singling_out, several))
    if drawn["control"] is not None:
        plan.append(("membership", membership, {**every, **drawn}))
    else:
        skipped.append(("membership", "there is no control file"))
    plan.append(("distance_to_closest_record", distance_to_closest_record, {**every, **alike}))
    for name in scenario.intruders:
        keys = scenario.intruder(name).keys
        numbers = _numbers(scenario, keys)
        half = (len(keys) + 1) // 2
        if len(keys) > 1:
            sides = {"known": (keys[:half], keys[half:]), **numbers, **drawn}
            plan.append((f"linkability:{name}", linkability, sides))
        else:
            skipped.append((f"linkability:{name}", ONE_KEY))
        if reason := _not_linked(pair, keys):
            skipped.append((f"probabilistic_linkage:{name}", reason))
        else:
            linked = {"variables": keys, **numbers, "seed": drawn["seed"]}
            plan.append((f"probabilistic_linkage:{name}", probabilistic_linkage, linked))
        for variable in scenario.sensitive:
            place = f"inference:{name}:{variable}"
            if variable not in names:
                skipped.append((place, "a release does not have the variable"))
                continue
            target = {"known": keys, "target": variable, **_numbers(scenario, [*keys, variable]), **drawn}
            plan.append((place, inference, target))
    return plan


def _numbers(scenario: Scenario, columns: Sequence[str]) -> dict[str, Any]:
    """Those of the columns that are declared to be numbers, where any are declared."""
    if not scenario.numeric:
        return {}
    return {"numeric": [name for name in scenario.numeric if name in columns]}


def _not_linked(pair: Pair, keys: Sequence[str]) -> str:
    """Why no linkage by agreement weights is tried."""
    if not pair.aligned:
        return NOT_ALIGNED
    if len(keys) < 2:
        return ONE_KEY
    if pair.n**2 > MOST_PAIRS:
        return (
            f"{pair.n:,} records make too many pairs to compare them all here; "
            "call probabilistic_linkage with blocking"
        )
    return ""
