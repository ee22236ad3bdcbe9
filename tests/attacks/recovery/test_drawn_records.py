"""Records drawn by their id on an engine, and changed values counted by its joint cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from engines.conftest import plan, spark  # noqa: F401 (fixtures)
from sdckit.attacks.recovery.drawn_records import changed_values, recoverable_of_drawn
from sdckit.cells.pair import open_files
from sdckit.cells.plans.drawn_pair import draw_records

N = 600
RNG = np.random.default_rng(2)
ORIGINAL = pl.DataFrame({
    "pid": RNG.permutation(N), "home": [None if at > 590 else at // 3 for at in range(N)],
    "sex": RNG.choice(["f", "m"], N), "pay": RNG.integers(100, 999, N), "job": RNG.choice(list("abc"), N),
})  # fmt: skip
RELEASED = ORIGINAL.with_columns(
    sex=pl.when(pl.col("pid") % 7 > 0).then("sex"), pay=(pl.col("pay") / 10).round().cast(pl.Int64) * 10,
    job=pl.when(pl.col("pid") % 5 == 0).then(pl.lit("b")).otherwise("job"),
).sample(fraction=1.0, shuffle=True, seed=3)  # fmt: skip
DIFFER = ORIGINAL.join(RELEASED, on="pid", suffix="_after")


def differing(name: str) -> int:
    before, after = pl.col(name), pl.col(f"{name}_after")
    return int(DIFFER.select(before.ne_missing(after).sum()).item())


def same_everywhere(original: Any, released: Any) -> None:
    """Rows, their order and the counts are those of Polars, on every engine."""
    pair = open_files(original, released, id="pid")
    drawn = draw_records(pair, 90, seed=1, household="home")
    expected = draw_records(open_files(ORIGINAL.lazy(), RELEASED.lazy(), id="pid"), 90, seed=1, household="home")
    for frame, own in zip(drawn.frames, expected.frames, strict=True):
        assert frame.to_arrow().to_pylist() == own.to_arrow().to_pylist()
    homes = drawn.original["home"].to_list()
    assert len(homes) == 90
    assert None not in homes
    changed = {column.column: (column.kinds, column.n) for column in changed_values(pair)[0]}
    assert changed == {
        "home": ((), 0), "sex": (("suppressed",), differing("sex")), "pay": (("rounded",), differing("pay")),
        "job": (("perturbed",), differing("job")),
    }  # fmt: skip


def test_embedded_engines(plan: Any) -> None:  # noqa: F811
    same_everywhere(plan(ORIGINAL), plan(RELEASED))


@pytest.mark.filterwarnings("ignore::FutureWarning")  # PySpark's about pandas 3
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(spark: Any) -> None:  # noqa: F811
    same_everywhere(*(spark.createDataFrame(file.to_arrow()) for file in (ORIGINAL, RELEASED)))


def test_a_group_that_few_records_drawn_show_is_no_changed_value() -> None:
    """Of towns drawn once the records drawn do not tell that all were recoded; all records do."""
    town = RNG.integers(0, 150, N)
    original = ORIGINAL.with_columns(town=pl.Series([f"T{t % 5}-{t}" for t in town])).drop("job")
    regions = [f"R{t % 5}" if at else "R9" for at, t in enumerate(town)]  # one is wrong
    released = original.with_columns(town=pl.Series(regions))
    pair = open_files(original.lazy(), released.lazy(), id="pid")
    (own,) = (column.n for column in changed_values(pair)[0] if column.column == "town")
    result = recoverable_of_drawn(
        sdc.recoverable_values, pair, 60, scenario=sdc.Scenario(keys=["sex"]), k=(3,), seed=1, step=lambda _: None
    )
    assert own is not None
    assert own < 30  # towns of one record, and the one that is wrong
    assert sum(column.touched for column in result.columns[0] if column.column == "town") <= own
