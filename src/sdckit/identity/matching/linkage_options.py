"""What record linkage is asked: variables, numbers among them, method, distance, weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sdckit.cells.pair import Pair, open_pair
from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.numerics.coding import Encoded, differences, gower, ranks, whitened

Method = Literal["nearest", "rank", "assignment"]
Distance = Literal["gower", "euclidean", "manhattan", "mahalanobis"]
METHODS: tuple[Method, ...] = ("nearest", "rank", "assignment")
DISTANCES: tuple[Distance, ...] = ("gower", "euclidean", "manhattan", "mahalanobis")
Weights = Mapping[str, float] | Sequence[float] | None


@dataclass(frozen=True)
class Options:
    """Method, distance, how many candidates, weights: checked without the data."""

    method: Method
    distance: Distance
    n_best: int
    weights: Weights

    @property
    def numbers_only(self) -> bool:
        """Whether categories cannot take part."""
        return self.method == "rank" or self.distance != "gower"


def options(method: Method, distance: Distance, n_best: int, weights: Weights) -> Options:
    """Check what can be checked before the files are opened."""
    arguments.choice(method, "method", METHODS)
    arguments.choice(distance, "distance", DISTANCES)
    if method == "rank" and distance != "gower":
        raise DataError("method='rank' has a distance of its own; leave distance= out", argument="distance")
    arguments.count(n_best, "n_best", "counts candidates")
    if method == "assignment" and n_best != 1:
        words = "method='assignment' links each record to one original; leave n_best= out"
        raise DataError(words, argument="n_best")
    if weights is not None and method != "rank" and distance == "mahalanobis":
        words = "distance='mahalanobis' weighs by the covariance; leave weights= out"
        raise DataError(words, argument="weights")
    return Options(method, distance, int(n_best), weights)


def linked_variables(
    original: Any,
    released: Any,
    *,
    variables: Sequence[str] | None,
    numeric: Sequence[str] | None,
    chosen: Options,
    scenario: Scenario | None,
    id: str | None,
    also: Sequence[str] = (),
) -> tuple[Pair, tuple[str, ...], tuple[str, ...]]:
    """Open the files; the variables that are numbers, and all variables. `also`: further columns of the original."""
    scenario = arguments.scenario_or_none(scenario)
    names, declared = arguments.names(variables, "variables"), arguments.names(numeric, "numeric")
    if names is None and scenario is not None:
        names = tuple(dict.fromkeys([*scenario.keys, *(declared or scenario.numeric)]))
    if not names:
        words = "say which variables the intruder knows: variables=[...] or scenario="
        raise ScenarioError(words, argument="variables")
    if declared is None and scenario is not None and not chosen.numbers_only:
        declared = tuple(name for name in scenario.numeric if name in names)
    if declared is not None and (other := [name for name in declared if name not in names]):
        words = f"numeric: {other[0]!r} is none of the variables; {did_you_mean(other[0], names)}"
        raise ColumnError(words, argument="numeric")
    _check_weights(chosen.weights, names)
    if declared is None:
        pair = open_pair(original, released, categories={"variables": names}, also=also, aligned=True, id=id)
        declared = tuple(name for name in names if pair.codes(name).kind == "numbers")
        original, released, id = pair, None, pair.id
    if chosen.numbers_only and (rest := [name for name in names if name not in declared]):
        what = "method='rank'" if chosen.method == "rank" else f"distance={chosen.distance!r}"
        words = f"{what} compares numbers; {rest[0]!r} is none"
        raise DataError(f"{words}: leave it out, or use distance='gower'")
    roles = {"categories": [name for name in names if name not in declared]}
    pair = open_pair(
        original, released, categories=roles, numeric={"numeric": declared}, also=also, aligned=True, id=id
    )
    if chosen.distance == "mahalanobis":
        _check_complete(pair, declared)
    return pair, declared, names


def encoders(
    pair: Pair, names: Sequence[str], numbers: Sequence[str], chosen: Options
) -> Callable[[int], tuple[Encoded, Encoded]]:
    """For release j (from 0) the original and the release, encoded together."""
    ordered = [*numbers, *(name for name in names if name not in numbers)]
    given = _by_name(chosen.weights, names)
    weights = None if given is None else [given[name] for name in ordered]

    def encode(j: int) -> tuple[Encoded, Encoded]:
        values = [(pair.numbers(name)[0], pair.numbers(name)[j + 1]) for name in numbers]
        codes = [(c[0], c[j + 1]) for c in (pair.codes(name).codes for name in ordered[len(numbers) :])]
        if chosen.method == "rank":
            values = [(ranks(known), ranks(masked)) for known, masked in values]
            known, masked = differences(values, power=1, weights=weights)
        elif chosen.distance == "gower":
            known, masked = gower(values, codes, weights=weights)
        elif chosen.distance == "mahalanobis":
            found = whitened(values)
            if found is None:
                words = "the covariance of the variables is singular: one does not vary, or follows from the others"
                raise DataError(f"{words}; leave it out, or use another distance")
            known, masked = found
        else:
            power = 2 if chosen.distance == "euclidean" else 1
            known, masked = differences(values, power=power, weights=weights)
        return known, masked

    return encode


def _check_weights(weights: Weights, names: Sequence[str]) -> None:
    if weights is None:
        return
    if isinstance(weights, Mapping):
        if unknown := [str(name) for name in weights if name not in names]:
            words = f"weights: {unknown[0]!r} is none of the variables; {did_you_mean(unknown[0], names)}"
            raise ColumnError(words, argument="weights")
        values = list(weights.values())
    else:
        values = list(arguments.several(weights, "weights", "has a number for each variable"))
        if len(values) != len(names):
            words = f"weights= needs one number per variable: {len(names)}, in the order of variables="
            raise DataError(words, argument="weights")
    good = [arguments.is_number(value) and value >= 0 for value in values]
    if not all(good) or not any((_by_name(weights, names) or {}).values()):
        raise DataError("weights must be finite numbers, none negative and not all 0", argument="weights")


def _by_name(weights: Weights, names: Sequence[str]) -> dict[str, float] | None:
    if weights is None:
        return None
    if isinstance(weights, Mapping):
        return {name: float(weights.get(name, 1.0)) for name in names}
    return dict(zip(names, map(float, weights), strict=True))


def _check_complete(pair: Pair, numbers: Sequence[str]) -> None:
    faults = [
        f"{label}: {name!r} is missing in {int(np.isnan(values).sum())} rows"
        for name in numbers
        for label, values in zip(pair.names, pair.numbers(name), strict=True)
        if np.isnan(values).any()
    ]
    if faults:
        words = "use distance='gower', or leave these records out of both files"
        raise DataError(f"{'; '.join(faults)}; distance='mahalanobis' needs every value: {words}")
