"""Categories that follow from several others: by their dummies, or by how many of a list somebody has."""

from __future__ import annotations

import numpy as np
import polars as pl

import sdckit as sdc
from attacks.recovery.made import blanked
from sdckit.attacks.recovery.indicators import FIRST, _candidates


def told(whole: pl.DataFrame, column: str):
    """What is given back of a column with 3 % of its values taken out."""
    result = sdc.recoverable_values(blanked(whole, [column]), whole, columns=[column], guess=False, pairs=False)
    return result.columns[0][0]


def test_a_reference_category_is_who_has_none_of_the_dummies() -> None:
    rng = np.random.default_rng(1)
    school = rng.choice(list("abcde"), 2000, p=[0.3, 0.25, 0.2, 0.15, 0.1])
    dummies = {f"school_{name}": (school == name).astype(int) for name in "bcde"}
    whole = pl.DataFrame({"school": school, **dummies})
    assert told(whole, "school").right == told(whole, "school").touched > 0
    assert told(whole.drop("school_c"), "school").right < told(whole, "school").right


def test_one_of_a_list_is_what_the_others_leave_of_their_number() -> None:
    rng = np.random.default_rng(2)
    has = rng.random((2000, 6)) < 0.3
    items = {f"illness_{i}": np.where(has[:, i], "yes", "no") for i in range(6)}
    whole = pl.DataFrame({**items, "n": has.sum(axis=1)})
    one = told(whole, "illness_3")
    assert one.right == one.touched > 0
    assert one.alone_by.startswith("a sum of illness_0")
    assert told(whole.drop("n"), "illness_3").restored == 0
    assert told(whole.drop("illness_5"), "illness_3").right < one.right


def test_what_few_records_have_or_the_first_ones_alone_is_no_rule() -> None:
    """Two lists tell a rare kind of five records as a sum; dummies are those of others beyond the first records."""
    rng = np.random.default_rng(3)
    at = np.zeros(1500, np.bool_)
    at[rng.permutation(1500)[:6]] = True
    some = rng.random(1500) < 0.4
    whole = pl.DataFrame(
        {"kind": np.where(at, "rare", "usual"), "both": some.astype(int) + at, "some": some.astype(int)}
    )
    gone = pl.Series(np.arange(1500) == np.flatnonzero(at)[0])
    release = whole.with_columns(pl.when(gone).then(None).otherwise("kind").alias("kind"))
    rare = sdc.recoverable_values(release, whole, columns=["kind"], guess=False, pairs=False)
    assert rare.columns[0][0].restored == 0
    school = rng.choice(list("abc"), 4000)
    dummies = {name: np.where(np.arange(4000) < 3000, school == name, rng.permutation(school) == name) for name in "bc"}
    late = pl.DataFrame({"school": school, **{name: values.astype(int) for name, values in dummies.items()}})
    assert told(late, "school").restored == 0
    assert told(late.head(3000), "school").restored > 0


def test_records_that_have_all_values_may_come_late() -> None:
    school = np.tile(list("abc"), 16_000)
    dummies = {name: (school == name).astype(int) for name in "bc"}
    whole = pl.DataFrame({"school": school, **dummies}).with_columns(b=pl.when(pl.int_range(48_000) > 8_900).then("b"))
    assert "a sum of b, c" in {source.words for source in told(whole, "school").sources}


def test_a_column_that_most_records_lack_is_no_hindrance() -> None:
    rng = np.random.default_rng(4)
    has = rng.random((2000, 3)) < 0.4
    whole = pl.DataFrame({**{f"item_{i}": np.where(has[:, i], "yes", "no") for i in range(3)}, "n": has.sum(axis=1)})
    mostly = pl.Series(np.arange(2000) % 100 == 0)
    whole = whole.with_columns(beside=pl.when(mostly).then(pl.int_range(pl.len())))
    assert told(whole, "item_1").right == told(whole, "item_1").touched > 0


def test_columns_that_many_records_lack_are_read_where_records_are_complete() -> None:
    """Of 60,000 records the first complete ones stand at the end; a sum is found in them, and no number of others."""
    rng = np.random.default_rng(4)
    n, sizes = 60_000, list[int]()

    class Numbers(np.ndarray):
        def __getitem__(self, at):
            sizes.append(np.size(at) if self.dtype == float else 0)
            return np.asarray(self)[at]

    first, second = (rng.integers(1, 3, n) for _ in range(2))
    known = np.where(first + second == 4, 2, 1).astype(np.int32)
    whole = np.arange(n) >= n - 3000
    codes = [np.where(whole, own, 0).astype(np.int32) for own in (first, second, known)]
    numbers = [(own, np.array([np.nan, 0.0, 1.0]).view(Numbers)) for own in codes]
    assert _candidates(known, np.array([1, 2]), numbers).tolist() == [1, 2]
    assert max(sizes) == FIRST
