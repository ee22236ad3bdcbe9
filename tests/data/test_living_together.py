"""Who lives together, told by values that few share, and what tells nothing beyond other columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from sdckit.data import living_together
from sdckit.data.frames import open_frame
from sdckit.data.households import RankedColumns
from sdckit.data.living_together import values_together

RNG = np.random.default_rng(5)
SIZE = RNG.choice([1, 2, 3, 4, 5, 6], 800, p=[0.3, 0.33, 0.15, 0.14, 0.06, 0.02])
HOME = np.repeat(np.arange(800), SIZE)[RNG.permutation(SIZE.sum())]
N = len(HOME)
PEOPLE = pl.DataFrame({
    "sex": RNG.choice(["f", "m"], N), "age": RNG.integers(0, 90, N) // 5, "ill": RNG.choice(["no", "flu"], N),
    "region": RNG.choice(list("NSEW"), 800)[HOME],
})  # fmt: skip
OWNED = {
    "dwell": RNG.integers(0, 5, 800), "tenure": RNG.integers(0, 3, 800), "rooms": RNG.integers(1, 7, 800),
    "hsize": SIZE,
}  # fmt: skip


def told(frame: pl.DataFrame, **how: Any) -> tuple[str, ...]:
    return values_together(RankedColumns.of(open_frame(frame)), **{"personal": ["sex", "age"], **how})


def of_homes(**columns: Any) -> pl.DataFrame:
    return PEOPLE.with_columns(**{name: pl.Series(values[HOME]) for name, values in columns.items()})


def test_a_weight_that_few_share_and_what_they_are_alike_in_are_named() -> None:
    weight = RNG.uniform(300, 900, 800).round(1)
    assert told(of_homes(w=weight), weight="w") == ("w", "region")
    assert told(of_homes(w=weight).drop("region"), weight="w") == ("w",)  # shared by more than numbers are by chance
    assert told(of_homes(w=weight.round(-2)), weight="w") == ()
    assert told(PEOPLE.with_columns(w=pl.Series(RNG.uniform(300, 900, N).round(1))), weight="w") == ()


def test_two_numbers_together_are_tried_where_each_is_shared_by_many() -> None:
    coarse = {"rent": RNG.integers(0, 60, 800), "income": RNG.integers(0, 60, 800), "dwell": OWNED["dwell"]}
    assert {*told(of_homes(**coarse))} == {"rent", "income", "region", "dwell"}
    assert told(of_homes(**coarse).with_columns(income=pl.Series(RNG.integers(0, 60, N)))) == ()


def test_the_size_of_a_household_puts_those_together_who_have_what_counts_by_it() -> None:
    assert {*told(of_homes(**OWNED))} == {"region", *OWNED}
    shuffled = {name: values[RNG.permutation(800)] for name, values in OWNED.items() if name == "hsize"}
    assert told(of_homes(**OWNED | shuffled)) == ()
    assert told(of_homes(hsize=SIZE)) == ()  # four regions put nobody together


def test_a_column_is_coded_once_for_all_that_may_count_members(monkeypatch: pytest.MonkeyPatch) -> None:
    coded: list[str] = []
    codes = living_together._codes
    monkeypatch.setattr(living_together, "_codes", lambda columns, name: coded.append(name) or codes(columns, name))
    told(of_homes(**{f"rooms{number}": RNG.integers(1, 7, 800) for number in range(3)}))
    assert len(coded) == len({*coded}) > 2


@pytest.mark.parametrize("known", [True, False])
def test_weights_of_strata_tell_nothing_beyond_these(known: bool) -> None:
    """Of small cells by region, sex and age; also where the file has ages otherwise."""
    region, sex, age = RNG.integers(0, 20, 2_000), RNG.integers(0, 2, 2_000), RNG.integers(0, 90, 2_000)
    weight = RNG.uniform(50, 200, 1_000)[region * 40 + sex * 20 + age // 5].round(3)
    frame = pl.DataFrame({"region": region, "sex": sex, "age": age // 5 if known else age // 3, "w": weight})
    assert values_together(RankedColumns.of(open_frame(frame)), personal=["sex", "age"], weight="w") == ()
    assert values_together(RankedColumns.of(open_frame(frame)), weight="w") == () or not known


def test_parts_of_places_and_other_codes_are_no_households() -> None:
    place = RNG.integers(0, 20, 2_000) * 100 + np.minimum(RNG.zipf(1.4, 2_000), 60)
    job = np.minimum(RNG.zipf(1.3, 2_000), 400)
    frame = pl.DataFrame({"place": place, "region": place // 100, "job": job, "branch": job // 40})
    assert values_together(RankedColumns.of(open_frame(frame))) == ()


def test_a_long_file_is_looked_at_by_some_of_its_values() -> None:
    size = RNG.integers(1, 5, 12_000)
    home = np.repeat(np.arange(12_000), size)[RNG.permutation(size.sum())]
    weight = RNG.uniform(300, 900, 12_000).round(4)[home]
    frame = pl.DataFrame(
        {"w": weight, "region": RNG.integers(0, 9, 12_000)[home], "ill": RNG.integers(0, 3, len(home))}
    )
    assert values_together(RankedColumns.of(open_frame(frame)), weight="w") == ("w", "region")
    apart = frame.with_columns(w=pl.Series(RNG.uniform(300, 900, len(home)).round(4)))
    assert values_together(RankedColumns.of(open_frame(apart)), weight="w") == ()
