"""From a file and its scenario to the lattice that is searched."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data.replace import open_eager
from sdckit.errors import ColumnError, DataError, ScenarioError, SdcError, SdcWarning
from sdckit.numerics.array_types import Ints
from sdckit.numerics.grouping import group, sum_by
from sdckit.workflow.proposing.ladders import Ladder, ladder_of, refines
from sdckit.workflow.proposing.lattice import Lattice, Limits, Side
from sdckit.workflow.recipes.recipe_checks import call_arguments, checked_step
from sdckit.workflow.recipes.recipe_steps import method_of
from sdckit.workflow.recipes.starter_keys import DEFAULT_K, wanted_k

if TYPE_CHECKING:
    from sdckit.cells.table import Cells
    from sdckit.data.scenarios.scenario import Scenario


MOST_NODES = 1_000_000
OWN = "as preferred"
Step = dict[str, Any]


def limits_of(one: Scenario, aim: int = 1) -> Limits:
    """What the recodings aim at; `aim` times the k that is asked for."""
    limits = one.limits
    k = wanted_k(one)
    if aim > 1:
        k = aim * (k or DEFAULT_K)
    return Limits(k, limits.l if one.sensitive else None, limits.risk, limits.global_risk)


def open_lattice(
    data: Any, scenario: Scenario, *, keep: Sequence[str], prefer: Mapping[str, Sequence[Step]],
    weights: Mapping[str, float], internal: bool,
) -> Lattice:  # fmt: skip
    """Tabulate a file once by all keys and sensitive variables, and find how coarse each key may become."""
    from sdckit.identity.contributions.coarsening import declared_kinds, levels_of

    keys = scenario.all_keys
    with warnings.catch_warnings():  # of keys with many values, which is what the search is about
        warnings.simplefilter("ignore", SdcWarning)
        cells = _tabulated(data, scenario)
    declared = declared_kinds(keys, scenario)
    ladders = []
    for key in keys:
        levels = levels_of(cells, key, declared)
        own = [_preferred(data, scenario, levels, key, step) for step in prefer.get(key, ())]
        groups = [group for _, _, group in own]
        if any(not refines(*pair) for pair in pairwise(groups)):
            raise DataError(
                f"prefer: the recodings of {key!r} do not follow from each other; give them finest first, each made of "
                "the groups of the one before",
                argument="prefer",
            )
        ladders.append(ladder_of(levels, key, internal=internal, stays=key in keep, own=own))
    sides = tuple(_side(cells, scenario.intruder(name), name, keys) for name in scenario.intruders)
    return thinned(Lattice(tuple(ladders), sides, tuple(weights.get(key, 1.0) for key in keys), cells.n))


def _tabulated(data: Any, scenario: Scenario) -> Cells:
    """Cells of all keys and sensitive variables, missing values being values of their own."""
    from sdckit.cells.as_cells import tabulate_given

    columns = [*scenario.all_keys, *scenario.sensitive]
    found: Any = tabulate_given(data, keys=columns, weight=scenario.weight, missing="category")
    return found  # type: ignore[no-any-return]


def _side(cells: Cells, one: Scenario, name: str, keys: Sequence[str]) -> Side:
    """The cells of one intruder."""
    table, limits = cells.table, limits_of(one)
    at = tuple(keys.index(key) for key in one.keys)
    places = [*at, *(cells.keys.index(variable) for variable in one.sensitive)]
    columns = [np.asarray(table.codes[j]) for j in places]
    label = np.zeros(len(table.size), np.uint64)
    for column in columns:  # a column at a time: any number of keys fits into a word
        span = np.uint64(int(column.max(initial=0)) + 1)
        label = group(label * span + column.astype(np.uint64)).of_row.astype(np.uint64)
    of_cell, count = label.astype(np.int64), int(label.max(initial=0)) + 1
    first = np.empty(count, np.int64)
    first[of_cell[::-1]] = np.arange(len(of_cell) - 1, -1, -1)
    weight = None if table.weight is None else sum_by(of_cell, table.weight, count)
    rules = [
        one.missing if isinstance(one.missing, str) else one.missing.get(key, "wildcard") for key in one.keys
    ]
    return Side(
        name, at, tuple(column[first] for column in columns[: len(at)]),
        tuple(column[first] for column in columns[len(at) :]),
        np.bincount(of_cell, table.size, count).astype(np.int64), weight,
        tuple(rule == "wildcard" and cells.n_missing[j] > 0 for rule, j in zip(rules, at, strict=True)), limits,
        may_hide=set(rules) == {"wildcard"}, alpha=one.alpha, fraction=one.sampling_fraction,
    )  # fmt: skip


def _preferred(data: Any, scenario: Scenario, levels: Any, key: str, step: Step) -> tuple[str, Step, Ints]:
    """A recoding that the caller wishes: run on the column, to see what it does to each level."""
    from sdckit.data.columns import code_column

    given = {"method": "recode", **step, "column": key}
    place = f"prefer: {key}"
    try:
        one = checked_step(1, given)
        method = method_of(one.method, place)
        if one.method not in ("recode", "top_bottom_code", "round_to"):
            raise ScenarioError("a recoding is recode, top_bottom_code or round_to")
        made = method.function(
            open_eager(data, {})[[key]].to_native(),
            **call_arguments(one, scenario=None, folder=scenario.folder),
        )
    except SdcError as error:
        raise type(error)(f"{place}: {error}", argument="prefer") from None
    frame = open_eager(data, {})
    before, after = code_column(frame[key]), code_column(open_eager(made.data, {})[key])
    new_of = np.full(before.span + 1, -1, np.int64)
    new_of[before.codes()] = after.codes()
    if ((new_of[before.codes()] == after.span) & (before.codes() != before.span)).any():
        raise DataError(
            f"{place}: the recoding makes values missing; give one that takes every value", argument="prefer"
        )
    found = np.unique(new_of[levels.codes], return_inverse=True)[1].astype(np.int64)
    return OWN, {"method": one.method, **one.arguments}, found


def thinned(lattice: Lattice, most: int = MOST_NODES) -> Lattice:
    """A lattice of at most so many nodes: every second rung of the longest ladder is left out, until it is."""
    ladders = list(lattice.ladders)
    while int(np.prod([float(len(one.rungs)) for one in ladders])) > most:
        j = max(range(len(ladders)), key=lambda i: len(ladders[i].rungs))
        rungs = ladders[j].rungs
        if len(rungs) <= 2:
            raise ColumnError(
                f"{len(ladders)} keys are too many for a search; name fewer, or keep some (keep=)"
            )
        inner = rungs[1:-1]
        ladders[j] = Ladder(
            ladders[j].key, ladders[j].codes, (rungs[0], *inner[1::2], rungs[-1]), ladders[j].missing
        )
    return Lattice(tuple(ladders), lattice.sides, lattice.weights, lattice.n)
