"""Closeness, `k_map` and `delta_presence` of generated files whose cells do not fit: the figures of memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

import sdckit as sdc
from engines.comparing import assert_same_figures, quiet
from engines.conftest import duckdb_relation, polars_plan
from sdckit.cells.plans import count_cells as counting
from sdckit.cells.plans.cells_in_parts import PartedCells
from sdckit.cells.plans.key_sizes import KeySizes
from sdckit.identity.population.k_map import population_cells

KEYS = ["a", "b", "c"]
MAKERS = [polars_plan, duckdb_relation]
CLOSE = {
    "t_closeness": {"distance": {"ill": "equal", "debt": "numeric"}},
    "beta_likeness": {},
    "delta_disclosure": {},
    "alpha_k": {"k": 3},
    "l_diversity": {},
}


@st.composite
def people(draw: st.DrawFn) -> pl.DataFrame:
    """Keys of whole numbers, texts and numbers with -0.0, a text and a number to be learnt; values missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, gaps = draw(st.integers(90, 150)), draw(st.sampled_from([0.0, 0.1]))
    columns = {
        "a": rng.integers(-4, 5, n) * draw(st.sampled_from([1, 10**9])),
        "b": rng.choice(["x", "y", "naïve", ""], n),
        "c": rng.choice([-0.0, 0.0, 1.5, 2.5], n),
        "ill": rng.choice(["yes", "no", "so"], n, p=[0.1, 0.7, 0.2]),
        "debt": rng.choice([0.0, 2.5, 40.0, 41.5], n),
    }
    frame = pl.DataFrame(columns).with_columns(
        pl.when(pl.Series(rng.random(n) < gaps)).then(None).otherwise(pl.col(name)).alias(name) for name in columns
    )
    return frame.with_row_index("row")


def of_classes(data: Any) -> dict[str, Any]:
    """What closeness measures tell of a file."""
    told = {}
    for name, options in CLOSE.items():
        result = quiet(getattr(sdc, name), data, keys=KEYS, sensitive=["ill", "debt"], **options)
        told[name] = result.to_dict()["figures"], sorted(result.notes)
    return told


def of_people(data: Any, population: Any) -> dict[str, Any]:
    """What is told of a file in its population, and of groups in it."""
    given = {"keys": KEYS, "by": "ill"}
    found = [
        quiet(sdc.k_map, data, population, k=[2, 4], **given),
        quiet(sdc.delta_presence, data, population, limits=(0.0, 0.6), **given),
        quiet(sdc.delta_presence, data, population, limits=(0.2, 0.8), **given),
    ]
    groups = [pl.DataFrame(result.by_group.to_arrow() if hasattr(result.by_group, "to_arrow") else result.by_group)
              for result in found]  # fmt: skip
    return {
        "figures": [result.to_dict()["figures"] for result in found],
        "groups": [group.sort("ill").to_dict(as_series=False) for group in groups],
    }


@pytest.mark.parametrize("make", MAKERS)
@settings(max_examples=2, deadline=None)
@given(people(), st.integers(15, 30))
def test_figures_are_those_of_memory(make: Any, frame: pl.DataFrame, fits: int) -> None:
    data = frame.filter(pl.col("row") % 3 != 0)
    expected = of_classes(frame), of_people(data, frame)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "MOST_CELLS", fits)
        assert isinstance(quiet(sdc.as_cells, make(frame), keys=KEYS, missing="category"), PartedCells)
        assert isinstance(population_cells(make(frame), KEYS), KeySizes)
        found = of_classes(make(frame)), of_people(make(data), make(frame))
        of_both = of_people(data, make(frame)), of_people(make(data), frame)
    assert_same_figures(expected, found)
    assert_same_figures([expected[1]] * 2, of_both)


@pytest.mark.parametrize("make", MAKERS)
def test_a_population_that_lacks_people_is_refused(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the number of cells over all parts, as in memory; a key of another type with its name."""
    frame = pl.DataFrame({"a": np.arange(90) % 9, "b": np.arange(90) % 10, "c": np.zeros(90)})
    people, short = frame.filter(pl.col("a") > 2), r"in 30 cells the population has fewer records"
    with pytest.raises(sdc.DataError, match=short):
        quiet(sdc.k_map, frame, people, keys=KEYS)
    monkeypatch.setattr(counting, "MOST_CELLS", 40)
    for measure in (sdc.k_map, sdc.delta_presence):
        with pytest.raises(sdc.DataError, match=short):
            quiet(measure, make(frame), make(people), keys=KEYS)
        with pytest.raises(sdc.ColumnError, match="column 'b' holds"):
            quiet(measure, make(frame), make(people.with_columns(pl.col("b").cast(pl.String))), keys=KEYS)


@pytest.mark.parametrize("fits", [10**6, 25], ids=["whole", "in parts"])
@pytest.mark.parametrize("make", MAKERS)
def test_amounts_and_times_match_those_of_memory(make: Any, fits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine brings them as text or numbers; the other file may be in memory."""
    frame = pl.DataFrame({"a": np.arange(90) % 9, "at": np.arange(90) % 4}).with_columns(
        b=(pl.col("a") / 8).cast(pl.Decimal(10, 3)), c=pl.time("at", 0, 1, 500_000 * (pl.col("at") % 2))
    )
    some = frame[::2]
    expected = [quiet(measure, some, frame, keys=KEYS).to_dict() for measure in (sdc.k_map, sdc.delta_presence)]
    monkeypatch.setattr(counting, "MOST_CELLS", fits)
    for data, population in ((some, make(frame)), (make(some), frame)):
        found = [quiet(measure, data, population, keys=KEYS) for measure in (sdc.k_map, sdc.delta_presence)]
        assert_same_figures([told["figures"] for told in expected], [of.to_dict()["figures"] for of in found])


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PySpark's about pandas 3
def test_on_spark(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    values = np.array([None, "x", "y", "z", "naïve"], dtype=object)
    frame = pl.DataFrame({name: values[rng.integers(0, 5, 150)].tolist() for name in (*KEYS, "ill")})
    whole, part = (spark.createDataFrame(file.to_arrow()) for file in (frame, frame[:80]))
    expected = sdc.t_closeness(frame, keys=KEYS, sensitive="ill"), sdc.k_map(frame[:80], frame, keys=KEYS)
    monkeypatch.setattr(counting, "MOST_CELLS", 40)
    found = quiet(sdc.t_closeness, whole, keys=KEYS, sensitive="ill"), quiet(sdc.k_map, part, whole, keys=KEYS)
    for here, there in zip(expected, found, strict=True):
        assert isinstance(there.cells, PartedCells)
        assert_same_figures(here.to_dict()["figures"], there.to_dict()["figures"])
