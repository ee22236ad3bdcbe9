"""Copies of some records are told from people who are alike."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.cells import repeated_records
from sdckit.cells.repeated_records import holds_copies
from sdckit.data.frames import open_frame

DEMO = pl.DataFrame(sdc.load_demo())
RNG = np.random.default_rng(8)
N = 1_000
RICH = pl.DataFrame(
    {
        "age": RNG.integers(18, 90, N), "sex": RNG.choice(["m", "f"], N), "job": RNG.integers(0, 30, N),
        "pay": RNG.integers(500, 9_000, N) * 10**9, "gap": RNG.choice([1.5, None], N), "of": [[1]] * N,
    }
)  # fmt: skip


def copied(frame: pl.DataFrame, share: float) -> pl.DataFrame:
    some = frame.sample(fraction=share, seed=3)
    return pl.concat([frame, some]).sample(fraction=1, shuffle=True, seed=4)


def found(frame: pl.DataFrame) -> bool:
    return holds_copies(open_frame(frame))


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_copies_of_some_records_are_found(share: float) -> None:
    assert found(copied(RICH, share))
    assert found(copied(RICH, share).to_pandas().pipe(pl.from_pandas))


def test_people_who_are_alike_are_no_copies() -> None:
    assert not found(RICH)
    assert not found(DEMO)
    coarse = RICH.select(pl.col("age") // 10, "sex", pl.col("job") // 10, pl.col("pay") // 10**12)
    assert coarse.is_duplicated().sum() > N / 2
    assert not found(coarse)


def test_columns_that_follow_from_others_make_nobody_a_copy() -> None:
    """Of people who are alike in all columns but a label they are alike in that, too, by its code."""
    coded = DEMO.with_columns(DEMO.select(pl.all().cast(pl.String).name.suffix("_label")))
    assert coded.is_duplicated().sum() > 1_000
    assert not found(coded)


def test_few_columns_or_few_copies_tell_nothing() -> None:
    assert not found(copied(RICH.select("age", "sex", "pay"), 0.5))
    assert not found(copied(RICH, 0.049))
    assert not found(RICH.clear())


def test_a_large_file_is_looked_at_in_part_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The part holds both of a pair, so that it says of people and of copies what the whole does."""
    monkeypatch.setattr(repeated_records, "LARGE", 5_000)
    rows = 20_000
    large = pl.DataFrame(
        {
            "age": RNG.integers(18, 90, rows), "sex": RNG.choice(["m", "f"], rows), "job": RNG.integers(0, 900, rows),
            "pay": RNG.integers(500, 9_000, rows), "of": [[1]] * rows,
        }
    )  # fmt: skip
    assert not found(large)
    assert found(copied(large, 0.5))
    assert not found(large.select("of"))
