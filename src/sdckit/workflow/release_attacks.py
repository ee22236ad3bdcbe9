"""The simulated attacks of an assessment: which ones a scenario permits, and what came of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sdckit.attacks.distance_to_closest_record import distance_to_closest_record
from sdckit.attacks.inference import inference
from sdckit.attacks.linkability import linkability
from sdckit.attacks.membership import membership
from sdckit.attacks.singling_out import singling_out
from sdckit.cells.pair import Pair
from sdckit.data.frames import open_frame
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenario import Scenario
from sdckit.errors import ColumnError, SdcError

__all__ = ["attacked_columns", "check_control", "release_attacks"]

COLUMNS_AT_ONCE = 3
Step = Callable[[str], None]
Attack = Callable[..., Any]


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
    pair: Pair, scenario: Scenario, tell: Step, *, control: Any = None, seed: int | None = None
) -> tuple[dict[str, Any], tuple[tuple[str, str], ...]]:
    """Make every attack that the scenario permits; and say which could not be made, and why.

    Linkability splits the keys of an intruder into two halves, in their order; inference takes them as known
    and each sensitive variable as the target.

    Parameters
    ----------
    pair : Pair
        Original and releases.
    scenario : Scenario
    tell : callable
        Is told what is being done.
    control : data frame, optional
        People of the same kind who were never used to make a release.
    seed : int, optional
        The same for every attack.

    Returns
    -------
    tuple
        Results by ``singling_out:univariate``, ``singling_out:multivariate``, ``membership``,
        ``distance_to_closest_record``, ``linkability:intruder``, ``inference:intruder:variable``; and the name
        and reason of what was not done.
    """
    found: dict[str, Any] = {}
    skipped: list[tuple[str, str]] = []
    for place, attack, options in _planned(pair, scenario, control, skipped):
        tell(f"attacking the release: {place.replace('_', ' ').replace(':', ', ')}")
        try:
            found[place] = attack(pair, control=control, seed=seed, **options)
        except SdcError as error:
            skipped.append((place, str(error)))
    return found, tuple(skipped)


def _planned(
    pair: Pair, scenario: Scenario, control: Any, skipped: list[tuple[str, str]]
) -> list[tuple[str, Attack, dict[str, Any]]]:
    names = attacked_columns(pair, scenario)

    def with_numbers(columns: Sequence[str]) -> dict[str, Any]:
        if not scenario.numeric:
            return {}
        return {"numeric": [name for name in scenario.numeric if name in columns]}

    every = {"variables": names, **with_numbers(names)}
    plan: list[tuple[str, Attack, dict[str, Any]]] = [
        ("singling_out:univariate", singling_out, {"variables": names})
    ]
    if (k := min(COLUMNS_AT_ONCE, len(names))) > 1:
        several = {"variables": names, "mode": "multivariate", "n_columns": k}
        plan.append(("singling_out:multivariate", singling_out, several))
    if control is not None:
        plan.append(("membership", membership, every))
    else:
        skipped.append(("membership", "there is no control file"))
    plan.append(("distance_to_closest_record", distance_to_closest_record, every))
    for name in scenario.intruders:
        keys = scenario.intruder(name).keys
        half = (len(keys) + 1) // 2
        if len(keys) > 1:
            sides = {"known": (keys[:half], keys[half:]), **with_numbers(keys)}
            plan.append((f"linkability:{name}", linkability, sides))
        else:
            skipped.append((f"linkability:{name}", "there is only one key"))
        for variable in scenario.sensitive:
            place = f"inference:{name}:{variable}"
            if variable not in names:
                skipped.append((place, "a release does not have the variable"))
                continue
            target = {"known": keys, "target": variable, **with_numbers([*keys, variable])}
            plan.append((place, inference, target))
    return plan
