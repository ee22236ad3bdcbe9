"""Two files by one key: persons keep their order, every one has a household, nothing differs unseen."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.files.joined import join_frames
from sdckit.data.files.readers import describe_file, scan_header
from sdckit.errors import ColumnError, DataError, SdcError, SdcWarning

PERSONS = "pid,hid,age,region\n1,b,30,s\n2,a,4,n\n3,b,61,s\n"
HOUSES = "hid,rooms,region,owner\na,2,n,Ann\nb,3,s,Bob\n"


@pytest.fixture
def files(tmp_path):
    persons, houses = tmp_path / "persons.csv", tmp_path / "houses.csv"
    persons.write_text(PERSONS, encoding="utf-8")
    houses.write_text(HOUSES, encoding="utf-8")
    return persons, houses


def read(files, **options):
    return sdc.read_file(files[0], join=files[1], join_key="hid", **options)


def test_persons_keep_their_order(files):
    frame = read(files)
    assert frame.columns == ["pid", "hid", "age", "region", "rooms", "owner"]
    assert frame["pid"].to_list() == [1, 2, 3]
    assert frame["rooms"].to_list() == [3, 2, 3]


def test_columns_in_any_order_and_identifiers_of_either_file(files):
    assert read(files, columns=["rooms", "pid"]).rows() == [(3, 1), (2, 2), (3, 3)]
    assert read(files, columns=["rooms", "hid"]).columns == ["rooms", "hid"]
    assert read(files, identifiers=["owner", "hid"]).columns == ["pid", "age", "region", "rooms"]
    assert read(files, rows=1).rows() == [(1, "b", 30, "s", 3, "Bob")]
    with pytest.warns(SdcWarning, match="nowhere"):
        read(files, identifiers=["nowhere"])
    with pytest.raises(ColumnError, match="room"):
        read(files, columns=["room"])


def test_headers_and_samples_are_of_both(files):
    header = scan_header(files[0], join=files[1], join_key="hid")
    assert header.columns == ("pid", "hid", "age", "region", "rooms", "owner")
    assert header.n_rows == 3
    assert describe_file(files[0], join=files[1], join_key="hid").frame.equals(read(files))


def test_labels_are_of_both(tmp_path):
    first = sdc.write_file(
        pl.DataFrame({"hid": [1], "age": [3]}), tmp_path / "a.sav", labels={"hid": "A", "age": "Age"}
    )
    second = sdc.write_file(
        pl.DataFrame({"hid": [1], "n": [3]}), tmp_path / "b.dta", labels={"hid": "B", "n": "N"}
    )
    assert sdc.read_labels(first, join=second).variables == {"hid": "A", "n": "N", "age": "Age"}
    assert sdc.read_file(first, join=second, join_key="hid").rows() == [(1, 3, 3)]


def test_households_without_persons_are_told(files):
    with files[1].open("a", encoding="utf-8") as file:
        file.write("c,9,n,Cid\n,1,n,Dan\n")
    with pytest.warns(
        SdcWarning, match="2 of the 4 records of houses.csv belong to no record of persons.csv"
    ) as told:
        assert read(files).height == 3
    assert "Cid" not in str(told[0].message)
    assert read(files, rows=2).height == 2  # of a part nothing can be said


@pytest.mark.parametrize(
    ("persons", "houses", "said"),
    [
        (PERSONS + "4,x,1,s\n5,,1,s\n", HOUSES,
         "2 of the 5 records of persons.csv have no record in houses.csv by 'hid'"),
        (PERSONS, HOUSES + "a,5,n,Eve\n", "houses.csv has the key 'hid' more than once in 1 record"),
        (PERSONS, HOUSES.replace("3,s", "3,n"), "both have a column 'region', which differs in 2 records"),
        (PERSONS, "hid,rooms\n1,2\n2,3\n", "a number in houses.csv and none in persons.csv"),
        (PERSONS.replace("a", "1").replace("b", "2").replace("1ge", "age"), HOUSES, "a number in persons.csv and none"),
        (PERSONS, HOUSES.replace("hid", "house"), "houses.csv has no column 'hid'"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_without_values(files, persons, houses, said):
    files[0].write_text(persons, encoding="utf-8")
    files[1].write_text(houses, encoding="utf-8")
    with pytest.raises(SdcError, match=said) as caught:
        read(files)
    assert not any(name in str(caught.value) for name in ("Ann", "Bob", "Eve"))


def test_one_argument_without_the_other(files):
    with pytest.raises(DataError, match="join_key= goes with join="):
        sdc.read_file(files[0], join_key="hid")
    with pytest.raises(SdcError, match="join_key"):
        sdc.read_file(files[0], join=files[1])


def test_keys_of_different_types_and_names_like_patterns():
    key = "^h.*$"
    persons = pl.DataFrame({key: pl.Series([2, 1], dtype=pl.Int8), "*": [1, 2], "x": [1, 2]})
    houses = pl.DataFrame({key: [1.0, 2.0], "^a$": ["p", "q"], "x": [2.0, 1.0]})
    found = join_frames(persons, houses, key, names=("p", "h"))
    assert found.columns == [key, "*", "x", "^a$"]
    assert found["^a$"].to_list() == ["q", "p"]
    named = persons.with_columns(pl.Series(key, ["b", "a"], dtype=pl.Categorical))
    words = houses.with_columns(pl.Series(key, ["a", "b"], dtype=pl.Enum(["a", "b"])))
    assert join_frames(named, words, key, names=("p", "h"))["^a$"].to_list() == ["q", "p"]


def test_long_ids_of_other_widths_stay_apart() -> None:
    """As floats 2**53 and its neighbour are one number."""
    ids = [2**53, 2**53 + 1]
    persons = pl.DataFrame({"hid": pl.Series(ids, dtype=pl.UInt64), "age": [30, 40]})
    households = pl.DataFrame({"hid": pl.Series(ids, dtype=pl.Int64), "size": [1, 2]})
    found = join_frames(persons, households, "hid", names=("persons.csv", "households.csv"))
    assert found["size"].to_list() == [1, 2]
