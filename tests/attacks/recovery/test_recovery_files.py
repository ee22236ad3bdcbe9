"""The files: everything is checked before any work, and rows are brought together."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.attacks.recovery.recovery_files import recovery_files
from sdckit.data.scenarios.roles import Roles
from sdckit.errors import ColumnError, DataError

N = 60
WHOLE = pl.DataFrame(
    {"id": np.arange(N), "x": np.arange(N) % 7, "t": list("abc") * 20, "w": np.arange(N) + 0.5}
)
HIDDEN = WHOLE.with_columns(x=pl.when(pl.int_range(N) < 5).then(None).otherwise("x"))


def roles(**given):
    return Roles((), given.get("weight"), None, given.get("household"), None, (), (), 1.0, given.get("id"))


def opened(
    released=HIDDEN, original=WHOLE, *, aligned=True, id=None, log=None, columns=None, named=None, **given
):
    files, _ = recovery_files(
        released, original, roles=roles(id=id, **given), columns=columns, log=log, id=id, aligned=aligned,
        named=named or {},
    )  # fmt: skip
    return files


def test_row_by_row():
    (file,) = opened()
    assert list(file.touched) == ["x"]
    assert file.truth is not None
    assert file.truth["x"].numbers.tolist() == (np.arange(N) % 7).tolist()


def test_an_id_brings_rows_together():
    order = np.random.default_rng(1).permutation(N)
    (file,) = opened(HIDDEN[order], id="id")
    assert np.flatnonzero(file.touched["x"].touched).tolist() == np.flatnonzero(order < 5).tolist()
    assert file.truth is not None
    assert file.truth["x"].numbers.tolist() == (order % 7).tolist()


def test_rows_that_do_not_belong_together_are_not_compared():
    (file,) = opened(HIDDEN.sample(fraction=1, shuffle=True, seed=1), aligned=False)
    assert file.truth is None
    assert file.touched["x"].kinds[0] == "suppressed"


def test_what_is_looked_at():
    both = HIDDEN.with_columns(w=pl.when(pl.int_range(N) < 9).then(None).otherwise("w"))
    assert set(opened(both)[0].touched) == {"x", "w"}
    assert set(opened(both, weight="w")[0].touched) == {"x"}
    assert set(opened(both, weight="w", columns=["w"])[0].touched) == {"w"}


def test_several_releases():
    files = opened([HIDDEN, WHOLE])
    assert [list(file.touched) for file in files] == [["x"], []]


@pytest.mark.parametrize(
    ("kind", "words", "given"),
    [
        (ColumnError, "columns: no column 'tt'", {"columns": ["tt"]}),
        (ColumnError, "household: no column 'h'", {"named": {"household": "h"}}),
        (DataError, "log: it is of a file of 3 records", {"log": SimpleNamespace(n=3, steps=())}),
        (DataError, "rows must belong together", {"original": WHOLE.head(9)}),
        (DataError, "no records", {"released": HIDDEN.head(0), "original": None}),
        (ColumnError, "id", {"id": "number"}),
    ],
)
def test_what_is_refused(kind, words, given):
    with pytest.raises(kind, match=words):
        opened(**given)


def test_rows_that_a_log_says_were_moved_are_compared_with_themselves():
    order = np.random.default_rng(1).permutation(N)
    log = SimpleNamespace(n=N, steps=(), rows=lambda _: order)
    mixed = HIDDEN[order.tolist()]
    (file,) = opened(mixed, log=log)
    assert file.touched["x"].touched.tolist() == mixed["x"].is_null().to_list()
    assert file.truth["x"].numbers.tolist() == WHOLE["x"][order.tolist()].to_list()
    (by_id,) = opened(mixed, log=log, id="id")
    assert by_id.touched["x"].touched.sum() == 5
    (plain,) = opened(log=SimpleNamespace(n=N, steps=(), rows=lambda _: None))
    assert plain.touched["x"].touched.sum() == 5


def test_the_truth_of_a_value_in_a_group_is_its_group():
    """Numbers became names: what is put back is a name, and right where it is that of the number's group."""
    number = np.arange(120) % 4
    home = pl.Series("home", np.arange(120) % 4 + 10 * (np.arange(120) % 3))
    whole = pl.DataFrame({"kin": number, "home": home})
    named = whole.with_columns(kin=pl.col("kin").replace_strict({0: "a", 1: "a", 2: "b", 3: "c"}))
    gone = pl.int_range(120) % 17 == 3
    blank = named.with_columns(kin=pl.when(gone).then(None).otherwise("kin"))
    found = sdc.recoverable_values(blank, whole, guess=False)
    (kin,) = (one for one in found.columns[0] if one.column == "kin")
    empty = blank["kin"].null_count()
    assert kin.restored == kin.right > 0
    by_group = sdc.recoverable_values(blank, named, guess=False)
    assert by_group.right == empty
