"""Keys made coarser one step at a time, what saves most per bit of information first, for a recipe to start from."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data.replace import lend_rows, open_eager
from sdckit.errors import SdcError

if TYPE_CHECKING:
    from sdckit.data.scenarios.scenario import Scenario


Step = dict[str, Any]
FEWEST_BANDS = 3  # a key in fewer bands says little more than a missing one
DEFAULT_K = 2  # alone or not, where no k is asked for
LEAST_LOST = 1e-9  # bits: a step that loses nothing comes first


@dataclass(frozen=True)
class Coarser:
    """One key made coarser: the step, and what was over a limit before and after, by intruder."""

    key: str
    step: Step
    before: Mapping[str, Over]
    after: Mapping[str, Over]


@dataclass(frozen=True, eq=False)
class Way:
    """The keys on their way.

    `first` has the advised step of each key, `unstepped` what the levels of the other keys are, `steps` the
    recoding of each key so far, `done` every step taken.
    """

    original: Any
    data: Any
    scenario: Scenario
    first: Mapping[str, Step]
    unstepped: Mapping[str, str]
    over: Mapping[str, Over]
    steps: Mapping[str, Step]
    done: tuple[Coarser, ...] = ()


def wanted_k(one: Scenario) -> int | None:
    """The k that keeps the limits on k and, in a file taken for the whole population, on the risk.

    >>> from sdckit import Scenario
    >>> wanted_k(Scenario(keys=["age"], thresholds={"k": 3, "risk": 0.1}))
    10
    >>> wanted_k(Scenario(keys=["age"], thresholds={"k": 3, "risk": 0.1}, weight="w"))
    3
    """
    k, risk = one.limits.k, one.limits.risk
    if risk is None or one.weight is not None or one.sampling_fraction not in (None, 1.0):
        return k
    return max(k or DEFAULT_K, math.ceil(1 / risk - LEAST_LOST))


def over_limits(data: Any, scenario: Scenario) -> dict[str, int]:
    """Records of a file that are over a limit on k or on the risk, by intruder."""
    return {name: _over(data, scenario.intruder(name)).records for name in scenario.intruders}


@dataclass(frozen=True)
class Over:
    """Records over a limit on k or on the risk, and expected re-identifications over the limit on the mean risk."""

    records: int = 0
    expected: float = 0.0


def _over(data: Any, one: Scenario) -> Over:
    from sdckit.cells.as_cells import tabulate_roles
    from sdckit.data.scenarios.roles import resolve_roles
    from sdckit.identity.individual_risk import individual_risk
    from sdckit.identity.k_anonymity import k_anonymity

    limits, found, expected = one.limits, [0], 0.0
    cells = tabulate_roles(data, resolve_roles(scenario=one))
    if (k := wanted_k(one)) is not None:
        found.append(k_anonymity(cells, k=[k]).violations[k])
    if limits.risk is not None or limits.global_risk is not None:
        risk = individual_risk(cells, threshold=limits.risk)
        found.append(risk.n_above or 0)
        expected = max(0.0, (risk.global_risk - (limits.global_risk or 1.0)) * risk.n)
    return Over(max(found), expected)


def _all_over(data: Any, scenario: Scenario) -> dict[str, Over]:
    return {name: _over(data, scenario.intruder(name)) for name in scenario.intruders}


def coarsen_keys(data: Any, scenario: Scenario, *, share: float, internal: bool) -> Way:
    """Make keys coarser until no intruder has more than `share` of the records over a limit, or nothing helps.

    No suppression follows for a limit on the mean risk, so it has to hold.
    """
    first, unstepped = _advice(data, scenario, internal=internal)
    way = Way(data, data, scenario, first, unstepped, _all_over(data, scenario), {})
    most = share * len(open_eager(data, {}))
    while too_many := [name for name, one in way.over.items() if one.records > most or one.expected]:
        best = _best(way, too_many)
        if best is None:
            break
        one, data = best
        way = replace(
            way, data=data, over=one.after, steps={**way.steps, one.key: one.step}, done=(*way.done, one)
        )
    return way


def _advice(data: Any, scenario: Scenario, *, internal: bool) -> tuple[dict[str, Step], dict[str, str]]:
    """The first step of each key, where it names nothing that few records have; of the others their scale."""
    from sdckit.identity.contributions.key_contributions import key_contributions

    first: dict[str, Step] = {}
    unstepped: dict[str, str] = {}
    for name in scenario.intruders:
        advised = key_contributions(
            data, scenario=scenario.intruder(name).changed(person=None), pairs=False
        ).coarsenings
        for key, row in advised.items():
            if row.step and (row.step_is_public or internal):
                first.setdefault(key, tomllib.loads(row.step)["steps"][0])
            else:
                unstepped.setdefault(key, row.scale)
    return first, unstepped


def _best(way: Way, intruders: Sequence[str]) -> tuple[Coarser, Any] | None:
    """The step that brings most records within the limits per bit of information lost; None where none does."""
    best, found = (0.0, ""), None
    for key in dict.fromkeys(key for name in intruders for key in way.scenario.intruders[name]):
        for step in _steps_after(way, key):
            try:
                data = _recoded(way, step)
            except SdcError:  # such as a value that a hierarchy has not at this level
                continue
            after = _all_over(data, way.scenario)
            saved = sum(_saved(way.over[name], after[name]) for name in intruders)
            if saved <= 0:
                continue
            lost = max(_bits(way.data, key) - _bits(data, key), LEAST_LOST)
            rank = (-float(f"{saved / lost:.9g}"), key)
            if rank < best:
                best, found = rank, (Coarser(key, step, way.over, after), data)
            break  # a coarser one is looked at when this one has been taken
    return found


def _saved(before: Over, after: Over) -> float:
    return before.records - after.records + before.expected - after.expected


def _steps_after(way: Way, key: str) -> Iterator[Step]:
    """The steps that follow what was done to a key, each coarser than the one before; the first is the advised one."""
    step = _coarser(way, way.steps[key]) if key in way.steps else way.first.get(key)
    while step is not None:
        yield step
        step = _coarser(way, step)


def _coarser(way: Way, step: Step) -> Step | None:
    """What follows a step on the same key: every second edge of its bands, or one level up its hierarchy."""
    if "bands" in step:
        bands = _wider(step["bands"])
        return None if bands is None else {**step, "bands": bands}
    if "hierarchy" in step:
        from sdckit.data.hierarchy import read_hierarchy

        levels = len(read_hierarchy(way.scenario.folder / step["hierarchy"]).levels)
        return {**step, "level": step["level"] + 1} if step["level"] < levels else None
    return None


def _wider(bands: Sequence[float]) -> list[float] | None:
    """Every second edge, those at multiples of the double width; None where too few bands would be left.

    >>> _wider([-math.inf, 25, 30, 35, 40, 45, math.inf])
    [-inf, 30, 40, inf]
    """
    inner = list(bands[1:-1])
    width = inner[1] - inner[0] if len(inner) > 1 else 0
    left = [edge for edge in inner if width and math.isclose(edge % (2 * width), 0, abs_tol=1e-9)]
    if not left or len(left) == len(inner):
        left = inner[1::2]
    return [bands[0], *left, bands[-1]] if len(left) + 1 >= FEWEST_BANDS else None


def _recoded(way: Way, step: Step) -> Any:
    """The data so far, with one key recoded from what it was at first."""
    from sdckit.protect.recoding.recode import recode

    given = {name: value for name, value in step.items() if name != "method"}
    if "hierarchy" in given:
        given["hierarchy"] = way.scenario.folder / given["hierarchy"]
    lender = open_eager(recode(way.original, **given).data, {})
    return lend_rows(open_eager(way.data, {}), lender, {step["column"]: np.arange(len(lender))})


def _bits(data: Any, key: str) -> float:
    from sdckit.data.columns import code_column
    from sdckit.identity.contributions.coarsening import entropy

    return entropy(np.bincount(code_column(open_eager(data, {})[key]).codes()))
