"""Which columns of two releases can be compared, and whose rows belong together."""

from __future__ import annotations

import numpy as np
import polars as pl

from attacks.differencing.several import KEYS, people
from sdckit.attacks.differencing.earlier_releases import Earlier, comparable_columns, link_rows, set_among
from sdckit.attacks.differencing.opened_release import OpenedRelease, open_release
from sdckit.attacks.differencing.sketching import sketch_release
from sdckit.data.ledger.digests import Digester

DIGESTER = Digester(b"k" * 32)
DATA = people()


def opened(data: pl.DataFrame, id: str | None = None) -> OpenedRelease:
    return open_release(data, [*KEYS, "job"], id=id, name="it", role="keys")


def earlier(file: OpenedRelease) -> Earlier:
    return Earlier("old", "", True, sketch_release(file, [KEYS], ["job"], DIGESTER), DIGESTER, file)


def test_a_column_in_bands_is_coded_otherwise_and_a_new_value_is_not() -> None:
    banded = DATA.with_columns(
        age=pl.col("band"), region=pl.when(pl.int_range(400) == 0).then(99).otherwise("region")
    )
    assert comparable_columns(opened(banded), earlier(opened(DATA))) == (("region", "sex", "job"), ("age",))


def test_a_column_of_nothing_but_missing_values_contradicts_nothing() -> None:
    empty = DATA.with_columns(age=pl.lit(None, pl.Int64))
    assert comparable_columns(opened(empty), earlier(opened(DATA)))[1] == ()
    assert comparable_columns(opened(DATA), earlier(opened(empty)))[1] == ()


def test_a_column_that_one_does_not_have_is_neither() -> None:
    other = open_release(DATA, ["sex", "part"], id=None, name="it", role="keys")
    assert comparable_columns(other, earlier(opened(DATA))) == (("sex",), ())


def test_rows_belong_together_by_id_or_by_order() -> None:
    moved = DATA.sample(fraction=1.0, shuffle=True, seed=1).head(300)
    rows = link_rows(opened(DATA, "id"), earlier(opened(moved, "id")), aligned=False)
    assert rows is not None
    hit = rows >= 0
    assert hit.sum() == 300
    assert (moved["id"].to_numpy()[rows[hit]] == DATA["id"].to_numpy()[hit]).all()
    assert link_rows(opened(DATA), earlier(opened(DATA)), aligned=False) is None
    assert link_rows(opened(DATA), earlier(opened(moved)), aligned=True) is None
    same = link_rows(opened(DATA), earlier(opened(DATA)), aligned=True)
    assert same is not None
    assert (same == np.arange(400)).all()


def test_the_widest_set_of_the_columns_is_chosen_and_records_are_counted() -> None:
    one = earlier(opened(DATA))
    assert set_among(one, ["sex", "age"]) == ("age", "sex")
    assert set_among(one, ["other"]) == ()
    assert one.n == 400
