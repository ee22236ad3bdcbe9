"""Which values were changed: seen, logged, or compared with the original."""

from __future__ import annotations

import datetime as dt
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from attacks.recovery.made import read
from sdckit.attacks.recovery.recoverable_values import recoverable_values
from sdckit.attacks.recovery.touched_cells import (
    FEWEST_APART,
    MOST_KEPT,
    apart,
    by_log,
    by_original,
    by_sight,
    in_frame,
    read_columns,
    seen_changes,
)
from sdckit.data.frames import open_frame
from sdckit.errors import SdcError

RNG = np.random.default_rng(1)
WHOLE = pl.DataFrame({"x": RNG.integers(0, 60, 400), "y": RNG.normal(50, 9, 400).round(2), "t": list("abcd") * 100})


def compared(**changes):
    released = WHOLE.with_columns(**changes)
    return by_original(read(released), read(WHOLE))


@pytest.mark.parametrize("n", [10, FEWEST_APART, MOST_KEPT + 1])
def test_work_apart_comes_in_its_order_and_the_first_error_is_raised(n):
    assert apart(lambda x: 2 * x, range(50), n) == list(range(0, 100, 2))
    with pytest.raises(ZeroDivisionError):
        apart(lambda x: 1 // (x - 7), range(50), n)


def test_whole_numbers_are_told_by_themselves_as_by_their_labels():
    own, others = (read(pl.DataFrame({"x": values}))["x"] for values in ([7, -3, 12, 7], [12, 5, -3, 8]))
    texts = read(pl.DataFrame({"x": ["12", "5", "-3", "8"]}))["x"]
    assert own.codes_of(others)[others.codes].tolist() == own.codes_of(texts)[texts.codes].tolist()
    assert own.codes_of(others)[others.codes].tolist() == [own.codes[2], -1, own.codes[1], -1]


def test_nothing_changed_is_nothing_touched():
    assert compared() == {}
    assert by_original(read(WHOLE.select("x")), read(WHOLE.select("y"))) == {}


@pytest.mark.parametrize("name", ["x", "y", "t"])
def test_suppressed_values(name):
    gone = pl.int_range(400) % 9 == 0
    (found,) = compared(**{name: pl.when(gone).then(None).otherwise(name)}).values()
    assert found.kinds == ("suppressed",)
    assert np.flatnonzero(found.touched).tolist() == list(range(0, 400, 9))
    if name != "t":
        assert np.isinf(found.low[found.touched]).all()


def test_limits_ranges_rounding_and_other_changes_are_told_apart():
    assert compared(x=pl.col("x").clip(upper_bound=45))["x"].kinds == ("top- or bottom-coded",)
    assert compared(x=pl.col("x").clip(10, 45))["x"].kinds == ("top- or bottom-coded",)
    assert compared(x=pl.col("x") // 5 * 5)["x"].kinds == ("rounded",)
    ten = pl.col("x") // 10 * 10
    banded = compared(x=pl.concat_str([ten, pl.lit("-"), ten + 9]))["x"]
    assert banded.kinds == ("in ranges",)
    assert banded.touched.all()
    assert compared(x=pl.col("x").shuffle(seed=1))["x"].perturbed
    assert compared(t=pl.col("t").shuffle(seed=1))["t"].kinds == ("perturbed",)


def test_a_limit_stands_for_everything_beyond_it():
    found = compared(x=pl.col("x").clip(upper_bound=45))["x"]
    truth = WHOLE["x"].to_numpy()
    assert (found.touched == (truth > 45)).all()
    assert (found.low[found.touched] == 45).all()
    assert np.isinf(found.high[found.touched]).all()


def test_of_values_in_groups_by_name_only_those_taken_out_count():
    """Nothing in the release says which code of a group it was; a blank may be told to be of one of them."""
    rng = np.random.default_rng(2)
    codes = rng.integers(1, 10, 300)
    whole = pl.DataFrame({"x": codes})
    for names in (["a", "b", "c"], [3, 1, 2]):
        groups = pl.Series([names[one % 3] for one in codes])
        grouped = whole.with_columns(x=pl.when(pl.int_range(300) < 7).then(None).otherwise(groups))
        found = by_original(read(grouped), read(whole))["x"]
        assert np.flatnonzero(found.touched).tolist() == list(range(7))
        assert found.kinds == ("suppressed",)
    text = whole.select(pl.col("x").cast(pl.String))
    other = text.with_columns(x=pl.when(pl.col("x") > "5").then(pl.lit("other")).otherwise("x"))
    assert by_original(read(other), read(text)) == {}
    swapped = whole.with_columns(x=pl.Series(rng.permutation(codes)))
    assert by_original(read(swapped), read(whole))["x"].kinds == ("perturbed",)


def test_ranges_of_numbers_that_are_not_whole_hold_them_all():
    """(0, 10] of whole numbers begins at 1; a half lies in it nevertheless."""
    whole = pd.DataFrame({"x": np.linspace(0.1, 19.9, 100)})
    cut = pd.DataFrame({"x": pd.cut(whole["x"], [0, 10, 20])})
    columns, before = (read_columns(open_frame(frame), ["x"]) for frame in (cut, whole))
    found = by_original(columns, before)["x"]
    assert found.kinds == ("in ranges",)
    assert (found.low <= whole["x"]).all()
    assert (whole["x"] <= found.high).all()


def test_infinite_numbers_are_compared_as_printed():
    whole = pl.DataFrame({"x": [np.inf, -np.inf, *range(98)]})
    assert by_original(read(whole), read(whole)) == {}
    other = whole.with_columns(x=pl.when(pl.int_range(100) == 0).then(-np.inf).otherwise("x"))
    with np.errstate(all="raise"):
        assert np.flatnonzero(by_original(read(other), read(whole))["x"].touched).tolist() == [0]
        gone = by_original(read(other.with_columns(x=pl.lit(np.inf))), read(whole))["x"]
    assert gone.touched.sum() >= 98


def test_codes_and_bands_that_are_so_in_the_original_are_not_changed():
    """Areas such as 25-00703 are no ranges; bands of the original are bands of the release."""
    whole = pl.DataFrame({"area": ["25-00703", "25-00503"] * 30, "age": ["0-9", "10-19", "20+"] * 20})
    assert by_original(read(whole), read(whole)) == {}
    assert set(by_sight(read(whole))) == {"age"}
    wider = whole.with_columns(age=pl.when(pl.col("age") == "20+").then("age").otherwise(pl.lit("0-19")))
    found = by_original(read(wider), read(whole))["age"]
    assert found.kinds == ("in ranges",)
    assert found.touched.sum() == 40


def test_ids_beyond_floats_are_compared_exactly():
    whole = pl.DataFrame({"id": [2**60 + i for i in range(50)]})
    other = whole.with_columns(id=pl.when(pl.int_range(50) == 4).then(pl.lit(2**60 + 90)).otherwise("id"))
    assert np.flatnonzero(by_original(read(other), read(whole))["id"].touched).tolist() == [4]


def test_everything_missing():
    gone = compared(x=pl.lit(None))
    assert gone["x"].touched.all()
    assert gone["x"].kinds == ("suppressed",)


@pytest.mark.parametrize(
    ("counts", "heaped"),
    [
        ([9, 30, 25, 20, 90], True), ([9, 30, 25, 20, 25], False), ([3, 3, 3, 2, 4], False),
        ([1] * 40 + [5], False), ([1] * 40 + [12], True), ([5, 5], False),
    ],
)  # fmt: skip
def test_heaps_at_the_top_are_seen_where_chance_makes_none(counts, heaped):
    values = np.repeat(np.arange(len(counts)) + 10, counts)
    found = by_sight(read(pl.DataFrame({"x": values})))
    assert ("x" in found) is heaped
    if heaped:
        assert found["x"].touched.sum() == counts[-1]
        assert found["x"].kinds == ("top- or bottom-coded",)


def test_random_columns_show_no_heaps():
    """Of 300 columns of measured numbers hardly any has a heap at its ends."""
    rng = np.random.default_rng(2)
    data = pl.DataFrame({f"x{i}": rng.normal(40, 12, 500).round() for i in range(300)})
    assert len(by_sight(read(data))) <= 3


def test_what_is_seen_without_original_and_log():
    ranges = pl.DataFrame({"a": ["10-19", "20+", None, "12"] * 10, "b": [1] * 40, "c": [None, *["u"] * 39]})
    found = by_sight(read(ranges))
    assert set(found) == {"a", "c"}
    assert set(found["a"].kinds) == {"suppressed", "in ranges", "top- or bottom-coded"}
    assert found["a"].touched.sum() == 30
    assert found["c"].low is None


def step(method, changed, **parameters):
    return SimpleNamespace(method=method, changed=changed, parameters=parameters)


def logged(released, *steps):
    return by_log(read(released), SimpleNamespace(n=len(released), steps=steps))


def test_the_log_says_what_was_changed():
    top = WHOLE.with_columns(pl.col("x").clip(upper_bound=45))
    found = logged(top, step("top_bottom_code", {"x": 4, "y": 0, "gone": 3}, top=45, bottom=None))
    assert set(found) == {"x"}
    assert found["x"].touched.sum() == (WHOLE["x"] >= 45).sum()
    five = logged(WHOLE.with_columns(pl.col("x") // 5 * 5), step("round_to", {"x": 300}, base=5))["x"]
    assert five.kinds == ("rounded",)
    assert (five.high - five.low == 5).all()
    pram = logged(WHOLE, step("pram", {"t": 30}))["t"]
    assert pram.perturbed
    assert pram.touched.all()
    assert logged(WHOLE, step("random_order", {"t": 30})) == {}
    assert logged(WHOLE, step("local_suppression", {"t": 3})) == {}  # nothing is missing any more


def test_two_steps_on_one_column():
    hidden = WHOLE.with_columns(x=pl.when(pl.int_range(400) < 7).then(None).otherwise(pl.col("x").clip(upper_bound=45)))
    first = step("top_bottom_code", {"x": 4}, top=45, bottom=None)
    found = logged(hidden, first, step("local_suppression", {"x": 7}))["x"]
    assert found.kinds == ("top- or bottom-coded", "suppressed")
    assert found.touched[:7].all()
    assert np.isinf(found.high[found.touched]).all()


# Columns as an intruder reads them.


def test_numbers_texts_and_missing_values():
    found = read(pl.DataFrame({"a": [3, 1, None, 3], "b": ["x", None, "y", "x"]}))
    a, b = found["a"], found["b"]
    assert a.missing.tolist() == [False, False, True, False]
    assert a.numbers is not None
    assert a.numbers[[0, 1, 3]].tolist() == [3, 1, 3]
    assert a.codes[0] == a.codes[3] != a.codes[1]
    assert (b.numbers, b.low, b.n_levels, b.whole) == (None, None, 2, False)
    assert [b.labels()[code - 1] for code in b.codes if code] == ["x", "y", "x"]
    assert b.sizes.tolist()[0] == 1
    assert sorted(b.sizes.tolist()) == [1, 1, 2]


def test_labels_of_ranges_are_numbers():
    column = read(pl.DataFrame({"age": ["30-39", "5+", "up to 17", None]}))["age"]
    assert column.from_labels
    assert column.low is not None
    assert column.high is not None
    assert column.low[:3].tolist() == [30, 5, -np.inf]
    assert column.high[:3].tolist() == [39, np.inf, 17]
    assert column.numbers is not None
    assert np.isnan(column.numbers).all()
    assert column.whole
    assert read(pl.DataFrame({"age": ["30-39", "old"]}))["age"].low is None


def test_half_open_ranges_of_whole_numbers_and_of_others():
    """(0, 10] begins at 1 among whole numbers; a label with a fraction says that they are not whole."""
    cut = pd.cut(pd.Series([1, 5, 15]), [0, 10, 20])
    column = read_columns(open_frame(pd.DataFrame({"x": cut})), ["x"])["x"]
    assert column.low is not None
    assert column.low.tolist() == [1, 1, 11]
    cut = pd.cut(pd.Series([0.5, 5, 15]), [0, 10.5, 20])
    column = read_columns(open_frame(pd.DataFrame({"x": cut})), ["x"])["x"]
    assert column.low is not None
    assert column.low.tolist() == [0, 0, 10.5]
    assert not column.whole


def test_infinite_numbers_are_values_but_no_numbers():
    column = read(pl.DataFrame({"x": [1.0, float("inf"), float("-inf"), None]}))["x"]
    assert column.missing.tolist() == [False, False, False, True]
    assert column.numbers is not None
    assert column.numbers[0] == 1
    assert np.isnan(column.numbers[1:]).all()


@pytest.mark.parametrize("kind", [pl.Int64, pl.UInt64])
def test_whole_numbers_too_large_for_floats_are_ids(kind):
    big = [2**60, 2**60 + 1, 2**60 + 2]
    column = read(pl.DataFrame({"id": big}, schema={"id": kind}))["id"]
    assert column.low is None
    assert column.n_levels == 3
    assert column.labels() == [str(one) for one in big]


def test_dates_are_days_and_what_holds_no_values_is_left_out():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 31)]
    found = read(pl.DataFrame({"d": days, "l": [[1], [2]], "f": [True, False]}))
    assert found["d"].numbers is not None
    assert np.diff(found["d"].numbers).tolist() == [30]
    assert "l" not in found
    assert found["f"].n_levels == 2


# Structures and lists: their fields, lengths and first elements are columns of their own.


NESTED = pl.DataFrame(
    {
        "home": [{"city": city, "zip": zip_} for city, zip_ in zip("abca" * 10, range(40), strict=True)],
        "codes": [list(range(i % 4)) for i in range(40)],
        "visits": [[{"year": 2000 + i}] for i in range(40)],
        "point": pl.Series([[i, -i] for i in range(40)], dtype=pl.Array(pl.Int64, 2)),
        "plain": list(range(40)),
    }
)


def test_structures_and_lists_are_flattened():
    for frame in (NESTED, NESTED.to_arrow()):
        found = read_columns(open_frame(frame), NESTED.columns)
        assert found["home.city"].labels() == ["a", "b", "c"]
        assert found["home.zip"].numbers.tolist() == list(range(40))
        assert found["codes.length"].numbers.tolist() == [i % 4 for i in range(40)]
        assert found["codes[1]"].missing.tolist() == [i % 4 == 0 for i in range(40)]
        assert found["codes[3]"].numbers[3] == 2
        assert found["visits[1].year"].numbers[7] == 2007
        assert found["point[2]"].numbers[5] == -5
        assert {name: column.within for name, column in found.items() if "." not in name and "[" not in name} == {
            "plain": ""
        }
        assert {found[name].within for name in found if name.startswith("home")} == {"home"}
        assert in_frame(["home.city", "plain", "home.zip", "none"], found) == ("home", "plain", "none")


def test_names_of_fields_that_pandas_read_off_records_are_withheld():
    data = pd.DataFrame({"a": [{"Anna": 1, "Bo": 2}, {"Anna": 3, "Bo": None}], "b": [[1], None]})
    found = read_columns(open_frame(data), ["a", "b"])
    assert set(found) == {"a.1", "a.2", "b.length", "b[1]"}
    assert found["a.1"].numbers.tolist() == [1, 3]
    assert found["b.length"].missing.tolist() == [False, True]


def test_a_column_of_the_frame_goes_before_a_field_of_its_name():
    found = read(NESTED.with_columns(pl.lit("own").alias("home.city")))
    assert found["home.city"].labels() == ["own"]
    assert found["home.city"].within == ""


def test_short_lists_are_not_suppressed_and_a_changed_field_is_changed():
    assert by_sight(read(NESTED)) == {}
    frame = open_frame(NESTED)
    assert seen_changes(frame, frame.columns).columns == ()
    moved = NESTED.with_columns(home=pl.struct(pl.col("home").struct["city"], pl.col("home").struct["zip"] // 10 * 10))
    changed = by_original(read(moved), read(NESTED))
    assert set(changed) == {"home.zip"}
    assert changed["home.zip"].kinds == ("rounded",)


def test_a_field_tells_a_value_and_is_not_put_back():
    """The source names the column of the file; a field that was changed itself is counted and stays as it is."""
    rng = np.random.default_rng(3)
    town = rng.integers(0, 8, 400)
    whole = pl.DataFrame(
        {
            "town": [f"t{value}" for value in town],
            "home": [{"district": int(value) % 4, "town": f"T{value}"} for value in town],
        }
    )
    district, row = pl.col("home").struct["district"], pl.int_range(400)
    released = whole.with_columns(
        town=pl.when(row % 20 > 0).then("town"),
        home=pl.struct(pl.when(row % 25 > 0).then(district), pl.col("home").struct["town"]),
    )
    found = recoverable_values(released, whole, keys=["town"], guess=False)
    columns = {column.column: column for column in found.columns[0]}
    assert set(columns) == {"town", "home.district"}
    assert columns["town"].right == columns["town"].touched == 20
    assert columns["town"].sources[0].columns == ("home",)
    assert columns["home.district"].right == 16
    undone = found.undone()
    assert undone["town"].to_list() == whole["town"].to_list()
    assert undone["home"].to_list() == released["home"].to_list()
    only = recoverable_values(released, whole, columns="home", guess=False)
    assert [column.column for column in only.columns[0]] == ["home.district"]


def test_labels_meet_as_texts_do_whatever_their_columns_are():
    mixed = pl.DataFrame(
        {"whole": [3, 1, None, -4], "large": pl.Series([2**63 + 1, 2, None, 2], dtype=pl.UInt64),
         "part": [1.0, 2.5, None, 3], "even": [1.0, None, float("nan"), -7], "text": ["3", "1.0", None, "-4"],
         "long": ["1", "b" * 25, "2020-01-01", ""], "yes": [True, None, False, True], "say": ["True", "x", None, "y"],
         "born": [dt.date(2020, 1, 1), None, dt.date(1990, 1, 2), dt.date(1, 1, 1)],
         "kind": pl.Series(["x", None, "y", "x"], dtype=pl.Enum(["z", "y", "x"])), "raw": [b"a", b"\xff", None, b"a"],
         "cent": pl.Series([1, 2, None, 3]).cast(pl.Decimal(10, 2)), "ends": [2**62, 1, -(2**62), None]}
    )  # fmt: skip
    for frame in (mixed, mixed.drop("large").to_pandas(), mixed.to_arrow()):
        opened = open_frame(frame)
        columns = read_columns(opened, opened.columns)
        for column in columns.values():
            assert column.printed.to_pylist() == column.labels()
            place = {label: code for code, label in enumerate(column.labels(), 1)}
            for other in columns.values():
                assert column.codes_of(other).tolist() == [0, *(place.get(label, -1) for label in other.labels())]


def test_numbers_too_large_for_arithmetic_are_no_numbers_or_refused():
    few = read_columns(open_frame(pl.DataFrame({"x": [1.7e308, -1e100, 2.0, 3.0, None]})), ["x"])["x"]
    assert np.isnan(few.numbers).tolist() == [True, True, False, False, True]
    assert few.n_levels == 4
    with pytest.raises(SdcError, match=r"column 'x': most numbers exceed 1e\+100: take a larger unit"):
        read_columns(open_frame(pl.DataFrame({"x": [1.7e308, -1e100, 2.0]})), ["x"])
