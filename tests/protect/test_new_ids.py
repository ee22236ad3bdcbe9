"""E1: new identifiers: a keyed hash, nothing of the old ones, the same on every engine."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sdckit import new_ids
from sdckit.errors import ColumnError, DataError
from sdckit.protect.new_ids import canonical_bytes

KEY = bytes(range(32))
DATA = {"hh": [7, 7, 3, None], "p": [1, 2, 1, 1], "x": ["a", "b", "c", "d"]}
FRAMES = {
    "polars": lambda: pl.DataFrame(DATA),
    "pandas": lambda: pd.DataFrame(DATA, index=[3, 3, 1, 2]),
    "pandas nullable": lambda: pd.DataFrame(DATA).convert_dtypes(),
    "pandas category": lambda: pd.DataFrame(DATA).astype({"hh": "category"}),
    "pyarrow": lambda: pa.table(DATA),
}


def values(frame, name):
    found = frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name].to_list()
    return [None if pd.isna(value) else value for value in found]


def tag(message, length=16):
    return hmac.new(KEY, message, hashlib.sha256).hexdigest()[:length]


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_the_start_of_the_hash_of_the_old_one(make):
    frame = make()
    safe, change = new_ids(frame, column="hh", key=KEY)
    assert values(safe, "hh") == [tag(b"n7"), tag(b"n7"), tag(b"n3"), None]
    assert [values(safe, name) for name in "px"] == [DATA["p"], DATA["x"]]
    assert values(frame, "hh") == DATA["hh"]
    assert (change.n, change.changed) == (4, {"hh": 3})
    assert change.secret == {"key": KEY.hex()}
    assert KEY.hex() not in str(change.to_dict()) + repr(change)
    assert change.notes["missing"] == "a missing identifier stays missing"
    if isinstance(frame, pd.DataFrame):
        assert safe.index.tolist() == frame.index.tolist()


def test_persons_within_households():
    safe, change = new_ids(pl.DataFrame(DATA), column="p", household="hh", key=KEY)
    people, homes = safe["p"].to_list(), safe["hh"].to_list()
    assert homes == [tag(b"n7"), tag(b"n7"), tag(b"n3"), None]  # as in a file of households alone
    assert len(set(people[:3])) == 3
    assert people[3] is None  # whose household nobody knows
    assert change.changed == {"hh": 3, "p": 3}
    again = new_ids(pl.DataFrame(DATA)[::-1], column="p", household="hh", key=KEY).data
    assert again["p"].to_list() == people[::-1]
    complete = pl.DataFrame(DATA).drop_nulls()
    assert new_ids(complete, column="p", household="hh", key=KEY).data["p"].to_list() == people[:3]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["polars", "pandas", "pyarrow"])
def test_new_ones_in_every_block_of_waves(make):
    panel = {"p": [1, 1, 1, 2, 2], "year": [2003, 2001, 2002, 2001, 2003], "home": [5, 5, 5, 6, 6]}
    safe, change = new_ids(make(panel), column="p", block=2, time="year", key=KEY)
    one, again, same, two, later = values(safe, "p")
    assert same == again
    assert len({one, same, two, later}) == 4
    assert change.parameters == {"column": "p", "household": None, "length": 16, "block": 2, "time": "year"}
    homes = values(new_ids(make(panel), column="p", household="home", block=1, time="year", key=KEY).data, "home")
    assert len(set(homes)) == 5  # a household known again would lead on
    later_only = {name: [entry[0], entry[4]] for name, entry in panel.items()}
    assert values(new_ids(make(later_only), column="p", block=2, time="year", key=KEY).data, "p") == [one, later]


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"block": 2}, DataError, "block= is given without time="),
        ({"time": "x"}, DataError, "time= is given without block="),
        ({"time": "x", "block": 0}, DataError, "block"),
        ({"time": "hh", "block": 1}, ColumnError, "'hh' is an identifier"),
        ({"time": "none", "block": 1}, ColumnError, "no column 'none'"),
    ],
)
def test_blocks_that_are_none(given, error, says):
    with pytest.raises(error, match=says):
        new_ids(pl.DataFrame(DATA), column="hh", **given)


def test_a_record_of_no_wave_is_refused():
    with pytest.raises(DataError, match=r"'hh' is missing in 1 record \(row 4\)"):
        new_ids(pl.DataFrame(DATA), column="p", block=1, time="hh")


def test_pairs_that_read_alike_are_different():
    frame = pl.DataFrame({"hh": ["1", "11"], "p": ["12", "2"]})
    assert new_ids(frame, column="p", household="hh", key=KEY).data["p"].n_unique() == 2


def test_another_key_another_identifier():
    frame = pl.DataFrame(DATA)
    one, two = (new_ids(frame, column="hh") for _ in range(2))
    assert one.change.secret["key"] != two.change.secret["key"]
    assert len(bytes.fromhex(one.change.secret["key"])) == 32
    assert not set(one.data["hh"].drop_nulls()) & set(two.data["hh"].drop_nulls())
    assert new_ids(frame, column="hh", key=one.change.secret["key"]).data.equals(one.data)


@pytest.mark.parametrize("length", [8, 32, 64])
def test_length(length):
    found = new_ids(pl.DataFrame(DATA), column="hh", key=KEY, length=length).data["hh"]
    assert found.to_list()[0] == tag(b"n7", length)


def test_a_column_of_categories_does_not_keep_the_old_order():
    frame = pl.DataFrame({"x": pl.Series(["a", "b", "c", "d"], dtype=pl.Enum(["a", "b", "c", "d"]))})
    categories = new_ids(frame, column="x", key=KEY).data.schema["x"].categories.to_list()
    assert categories == sorted(categories)


def test_identifiers_that_would_meet_are_refused():
    many = pl.DataFrame({"id": range(120_000)})
    with pytest.raises(DataError, match=r"of 120000 identifiers would become another one's; give more digits"):
        new_ids(many, column="id", key=b"a key with collisions", length=8)
    assert new_ids(many, column="id", key=b"a key with collisions").data["id"].n_unique() == 120_000


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, b"n1"), (1.0, b"n1"), (Decimal("1.00"), b"n1"), (-0.0, b"n0"), (2**70, b"n%d" % 2**70),
        (1.5, b"n1.5"), (Decimal("1.50"), b"n1.5"), (Decimal("0.1"), b"n0.1"), (float("inf"), b"ninf"),
        ("1", b"t1"), ("é", b"t\xc3\xa9"), (True, b"b1"), (False, b"b0"), (b"1", b"x1"),
        (dt.date(2020, 1, 2), b"d2020-01-02"),
        (dt.datetime(2020, 1, 2, 3, 4, 5, 60), b"d2020-01-02T03:04:05.00006"),
        (dt.timedelta(days=1, microseconds=1), b"dP86400000001000"), (dt.time(3, 4), b"d03:04:00"),
    ],
)  # fmt: skip
def test_canonical_bytes(value, expected):
    assert canonical_bytes(value) == expected


def test_a_moment_is_the_same_in_every_unit_and_zone():
    moment = dt.datetime(2020, 1, 2, 3, tzinfo=dt.UTC)
    there = moment.astimezone(dt.timezone(dt.timedelta(hours=5)))
    assert canonical_bytes(moment) == canonical_bytes(there)
    arrays = [pa.array([10**18], pa.timestamp("ns")), pa.array([10**12], pa.timestamp("ms"))]
    assert len({canonical_bytes(array.to_pylist()[0]) for array in arrays}) == 1
    later = pa.array([10**18 + 1], pa.timestamp("ns")).to_pylist()[0]
    assert canonical_bytes(later) != canonical_bytes(arrays[0].to_pylist()[0])


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"column": "hhh"}, ColumnError, "did you mean 'hh'"),
        ({"household": "hous"}, ColumnError, "household: no column 'hous'"),
        ({"household": "hh"}, ColumnError, "is the person too"),
        ({"key": b"short"}, DataError, "16 random bytes or more"),
        ({"key": "correct horse battery"}, DataError, "as a text is hexadecimal"),
        ({"key": 123}, DataError, "16 random bytes or more"),
        ({"length": 7}, DataError, "from 8 to 64"),
        ({"length": True}, DataError, "from 8 to 64"),
        ({"column": "none"}, DataError, "'none' has no identifier"),
    ],
)
def test_bad_input(options, error, message):
    frame = pl.DataFrame({**DATA, "none": [None] * 4})
    with pytest.raises(error, match=message) as told:
        new_ids(frame, **{"column": "hh", "key": KEY, **options})
    assert "short" not in str(told.value)
    assert "horse" not in str(told.value)


@pytest.mark.parametrize("length", [8, 9, 15, 16, 17, 31, 33, 48, 63, 64])
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table], ids=["polars", "pandas", "pyarrow"])
def test_every_identifier_is_the_start_of_its_hash(make, length):
    olds = {"whole": [9, -4, 9, 2**40], "text": ["ü", "b", "", "b"], "part": [0.5, -0.0, 7.0, 0.0]}
    kept = {"whole": [b"n%d" % old for old in olds["whole"]], "text": [b"t\xc3\xbc", b"tb", b"t", b"tb"],
            "part": [b"n0.5", b"n0", b"n7", b"n0"]}  # fmt: skip
    for name, messages in kept.items():
        found = new_ids(make(olds), column=name, key=KEY * 3, length=length).data
        expected = [hmac.new(KEY * 3, message, hashlib.sha256).hexdigest()[:length] for message in messages]
        assert values(found, name) == expected
