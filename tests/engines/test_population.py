"""Population measures on every engine: plans bring their cells, keys of two engines meet by value."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given

import sdckit as sdc
from engines.comparing import quiet
from engines.test_plans import FEW, KEYS, surveys

EAGER = {"polars": lambda frame: frame, "pandas": pl.DataFrame.to_pandas, "pyarrow": pl.DataFrame.to_arrow}


def flat(result: Any) -> dict[str, float]:
    """The figures that are numbers, by name; those that cancel (B, z) are compared elsewhere."""
    return {name: value for name, value in result._flat() if not name.startswith(("b", "z", "robust"))}


def agree(survey: pl.DataFrame, data: Any, population: Any) -> None:
    for measure, call in (
        (sdc.population_risk, {"weight": "w"}),
        (sdc.population_risk, {"sampling_fraction": 0.2, "formula": "text:flag"}),
        (sdc.population_risk, {"weight": "w", "method": "ce"}),
        (sdc.population_risk, {"weight": "w", "method": "pml", "bound": 2}),
        (sdc.population_risk, {"weight": "w", "method": "weighted"}),
        (sdc.population_uniques, {"weight": "w"}),
        (sdc.k_map, {"sampling_fraction": 0.2}),
    ):
        here, there = (quiet(measure, frame, keys=KEYS, **call) for frame in (survey, data))
        assert flat(there) == pytest.approx(flat(here), rel=1e-8, abs=1e-9, nan_ok=True)
    for measure in (sdc.k_map, sdc.delta_presence):
        here = quiet(measure, survey, pl.concat([survey, survey]), keys=KEYS)
        there = quiet(measure, data, population, keys=KEYS)
        assert flat(there) == flat(here)


@FEW
@given(survey=surveys())
def test_plans(plan: Any, survey: pl.DataFrame) -> None:
    agree(survey, plan(survey), plan(pl.concat([survey, survey])))
    agree(survey, plan(survey), pl.concat([survey, survey]))


@pytest.mark.parametrize("engine", EAGER)
@FEW
@given(survey=surveys())
def test_frames_in_memory(engine: str, survey: pl.DataFrame) -> None:
    data = EAGER[engine](survey.drop("flag", "day"))
    twice = pl.concat([survey, survey])
    keys = ["text", "whole", "half"]
    found = quiet(sdc.k_map, data, twice, keys=keys)
    assert type(found.records) is type(data)
    assert found.level == quiet(sdc.k_map, survey, twice, keys=keys).level
    risk = quiet(sdc.population_risk, data, keys=keys, weight="w")
    assert type(risk.records) is type(data)
    assert flat(risk) == pytest.approx(
        flat(quiet(sdc.population_risk, survey, keys=keys, weight="w")), rel=1e-9, abs=1e-12, nan_ok=True
    )


@pytest.mark.parametrize("engine", EAGER)
def test_linear_keys_and_estimates_of_cells(engine: str) -> None:
    survey = pl.DataFrame({"a": [i % 7 for i in range(200)], "b": [i * i % 5 / 2 for i in range(200)]})
    survey = survey.with_columns(w=4.0 + pl.col("a"))
    call = {"keys": ["a", "b"], "weight": "w", "method": "pml", "linear": ["b"]}
    data, here = EAGER[engine](survey), quiet(sdc.population_risk, survey, **call)
    found = quiet(sdc.population_risk, data, **call)
    assert type(found.cell_estimates) is type(data)
    frame = found.cell_estimates
    there = pl.from_pandas(frame, nan_to_null=False) if engine == "pandas" else pl.DataFrame(frame)
    assert there.columns == here.cell_estimates.columns
    for name in there.columns:
        assert there[name].to_list() == pytest.approx(here.cell_estimates[name].to_list(), rel=1e-9, nan_ok=True)
    assert flat(quiet(sdc.population_risk, survey.lazy(), **call)) == pytest.approx(flat(here), rel=1e-9, nan_ok=True)
