"""Whoever gives a frame of one engine gets frames of that engine, from every public function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import every_measure
import sdckit as sdc

MAKE: dict[str, Callable[[pl.DataFrame], Any]] = {
    "pandas": lambda frame: frame.to_pandas(),
    "polars": lambda frame: frame,
    "pyarrow": lambda frame: frame.to_arrow(),
}
FRAMES = (pd.DataFrame, pl.DataFrame, pa.Table)
FEW = every_measure.KEYS[:2]
SCENARIO = sdc.Scenario(keys=FEW, sensitive=["ill"], weight="w", household="home", household_variables=[])
# What has frames with arguments of its own: how it is called.
WITH_ARGUMENTS = {
    "by_group": {"by": ["sex"]}, "top": {"n": 3}, "high_risk": {}, "report": None, "to_json": None, "plot": None,
    "write": None, "save": None, "told_frame": None, "count_short": None,  # for other rooms of the package
}  # fmt: skip


def frames_of(result: Any) -> Iterator[tuple[str, Any]]:
    """Every frame that a result gives: attributes, properties, and methods that need no argument."""
    yield "itself", result
    if isinstance(result, (list, tuple)) or type(result).__module__.partition(".")[0] != "sdckit":
        yield from ((f"[{i}]", one) for i, one in enumerate(result) if isinstance(result, (list, tuple)))
        return
    for name in sorted({*dir(result)}):
        given = WITH_ARGUMENTS.get(name, {})
        if name.startswith("_") or given is None:
            continue
        try:
            value = getattr(result, name)
            if inspect.ismethod(value):
                value = value(**given)
        except (TypeError, ValueError, sdc.SdcError):  # needs an argument, or there is none of it here
            continue
        yield name, value


def wrong(result: Any, engine: str) -> list[str]:
    """Names of frames of another engine."""
    expected = FRAMES[list(MAKE).index(engine)]
    return [name for name, one in frames_of(result) if isinstance(one, FRAMES) and not isinstance(one, expected)]


def frames(result: Any) -> int:
    return sum(isinstance(one, FRAMES) for _, one in frames_of(result))


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("engine", MAKE)
@pytest.mark.parametrize("row", every_measure.CALLED, ids=lambda row: row.name)
def test_every_measure(row: Any, engine: str) -> None:
    result = every_measure.call(row, MAKE[engine])
    assert wrong(result, engine) == []
    assert frames(result) > 0


def of_objects(frame: pl.DataFrame) -> pd.DataFrame:
    """As pandas holds numbers beside None: in columns of objects."""
    plain = frame.to_pandas()
    return plain.astype(object).where(plain.notna(), None)


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("row", every_measure.CALLED, ids=lambda row: row.name)
def test_numbers_in_columns_of_objects_are_numbers(row: Any) -> None:
    expected, of_them = (every_measure.call(row, make) for make in (pl.DataFrame.to_pandas, of_objects))
    every_measure.assert_close(every_measure.figures(expected), every_measure.figures(of_them), row.name)


def test_what_was_taken_out_of_a_column_of_objects_is_told_by_its_sum() -> None:
    file = pl.DataFrame(
        {"c": ["x", "y"] * 15, "a": [*range(1, 31)], "b": [7 * i % 31 for i in range(30)]}
    ).with_columns(t=pl.sum_horizontal("a", "b"))
    release = file.with_columns(pl.when(pl.col("b") > 4).then("a"))
    for make in (pl.DataFrame.to_pandas, of_objects):
        result = sdc.recoverable_values(make(release), make(file), keys=["c"], aligned=True, guess=False, seed=1)
        assert result.recoverable == 1


def estimates(engine: str) -> tuple[Any, Any]:
    frame = pl.DataFrame({"age": [0.1, 0.3, 0.2], "sex": [1.0, 1.1, 0.9]})
    return MAKE[engine](frame), MAKE[engine](frame.select(pl.all().pow(2)))


@pytest.mark.parametrize("engine", MAKE)
def test_combine(engine: str) -> None:
    found = sdc.combine(*estimates(engine), kind="partial")
    assert wrong(found, engine) == []
    assert {name for name, one in frames_of(found) if isinstance(one, FRAMES)} == {"details", "summary", "table"}


def test_combine_of_what_is_no_frame() -> None:
    series = [pd.Series({"age": one}) for one in (0.1, 0.2)]
    assert wrong(sdc.combine(series, series, kind="partial"), "pandas") == []
    for given in ([0.1, 0.2], np.array([[0.1], [0.2]]), [{"a": 0.1}, {"a": 0.2}]):
        assert wrong(sdc.combine(given, given, kind="partial"), "pyarrow") == []


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("engine", MAKE)
def test_the_rest(engine: str) -> None:
    data, other = MAKE[engine](every_measure.people(1)), MAKE[engine](every_measure.changed())
    recipe = sdc.Recipe([{"method": "local_suppression", "keys": FEW, "k": 2}])
    made = {
        "assess": sdc.assess(data, scenario=SCENARIO),
        "assess a release": sdc.assess(data, other, scenario=SCENARIO, seed=1),
        "check": sdc.check(data, scenario=SCENARIO.changed(thresholds={"k": 2})),
        "canaries": sdc.canaries(data, n=10, variables=[*FEW, "income"], seed=1),
        "recode": sdc.recode(data, column="income", bands=3),
        "recipe": recipe.apply(data, scenario=SCENARIO, seed=2**70),
        "recipe of several files": sdc.Recipe([{"method": "synthesize", "m": 2}]).apply(data, seed=2**70).data,
        "explore": sdc.explore(data, recipe, grid={"local_suppression.k": [2, 3]}, scenario=SCENARIO, seed=2**70),
        "guess_roles": sdc.guess_roles(data),
        "as_cells": sdc.as_cells(data, keys=FEW),
    }
    assert {name: bad for name, one in made.items() if (bad := wrong(one, engine))} == {}
    assert frames(made["recipe"]) > 3
