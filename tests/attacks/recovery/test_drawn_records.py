"""Records drawn by their id on an engine, and changed values counted by its joint cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from engines.conftest import plan, spark  # noqa: F401 (fixtures)
from sdckit.attacks.recovery.drawn_records import changed_values
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
