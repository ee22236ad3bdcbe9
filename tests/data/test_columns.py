"""Any column to codes: equal values share a code, missing is one thing, labels print the value."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit.cells.pair import open_pair
from sdckit.data.columns import (
    bad_weights,
    categories_of,
    checked_weight,
    code_column,
    days_values,
    first_rows,
    float_values,
    in_order,
    is_number,
    joint_categories,
    n_differing,
    places_in_order,
    recoded,
    to_arrow,
)
from sdckit.data.files.readers import read_file
from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.perturbation.pram import read_levels
from sdckit.protect.synthesis.synthesis_variables import read_variable

NAN = float("nan")
LONG = "more than twelve bytes"
DAY = dt.date(2024, 2, 29)
NOON = dt.datetime(2024, 2, 29, 12, 0, 0, 123456)


def series(native):
    return nw.from_native(native, allow_series=True, series_only=True)


def arrow(values, kind=None):
    array = values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values, kind)
    return pa.chunked_array(array) if isinstance(array, pa.Array) else array


def check(native, values, kind, labels=None):
    """Codes put equal values together, missing ones (None here) apart, and print as they should."""
    coded = code_column(series(native))
    codes = coded.codes()
    assert (len(codes), coded.kind) == (len(values), kind)
    assert (codes == coded.span).tolist() == [value is None for value in values]
    assert coded.n_missing == sum(value is None for value in values)
    assert ((codes >= 0) & (codes < coded.n_codes)).all()
    of_value = {}
    for value, code in zip(values, codes.tolist(), strict=True):
        assert of_value.setdefault(value, code) == code
    assert len(set(of_value.values())) == len(of_value)
    printed = ["(missing)" if value is None else str(value) for value in values] if labels is None else labels
    assert coded.labels(codes) == printed
    rows = np.arange(len(values))[::-1]
    assert (coded.codes(rows) == codes[::-1]).all()
    without = coded.without_rows()
    assert without.labels(codes) == printed
    assert len(without.values) == len(without.valid) == 0


SIGNED = [(pl.Int8, 2**7), (pl.Int16, 2**15), (pl.Int32, 2**31), (pl.Int64, 2**63)]
UNSIGNED = [(pl.UInt8, 2**8), (pl.UInt16, 2**16), (pl.UInt32, 2**32), (pl.UInt64, 2**64)]


@pytest.mark.parametrize(("dtype", "end"), [*SIGNED, *UNSIGNED], ids=str)
def test_polars_integers(dtype, end):
    low, high = 0 if dtype in dict(UNSIGNED) else -end, end - 1
    values = [high, low, None, 3, low, 3]
    check(pl.Series("x", values, dtype), values, "integer")
    check(pl.Series("x", [3, 3, 5], dtype), [3, 3, 5], "integer")
    check(pl.Series("x", [high, high], dtype), [high, high], "integer")


POLARS = [
    (pl.Series("x", [True, None, False, True]), [True, None, False, True], "boolean", None),
    (pl.Series("x", [1.5, NAN, None, 2.0, 1.5]), [1.5, None, None, 2.0, 1.5], "number", None),
    (pl.Series("x", [0.0, -0.0, 0.5]), ["0.0", "0.0", "0.5"], "number", None),
    (pl.Series("x", [0.0, -0.0, 2.0]), ["0", "0", "2"], "number", None),
    (pl.Series("x", [1e300, -1e300, 1e300]), [1e300, -1e300, 1e300], "number", None),
    (pl.Series("x", [float("inf"), 1.0, -float("inf")]), ["inf", "1.0", "-inf"], "number", None),
    (pl.Series("x", [NAN, NAN]), [None, None], "number", None),
    (pl.Series("x", [1.5, 2.0], pl.Float32), [1.5, 2.0], "number", None),
    (pl.Series("x", ["b", None, "a", "b", ""]), ["b", None, "a", "b", ""], "text", None),
    (pl.Series("x", ["b", LONG, None, LONG, LONG + "!"]), ["b", LONG, None, LONG, LONG + "!"], "text", None),
    (pl.Series("x", [LONG, LONG]), [LONG, LONG], "text", None),
    (pl.Series("x", ["größe", "grösse", "größe", "日本"]), ["größe", "grösse", "größe", "日本"], "text", None),
    (pl.Series("x", [None, None], pl.String), [None, None], "text", None),
    (pl.Series("x", ["b", None, "a", "b"], pl.Categorical), ["b", None, "a", "b"], "category", None),
    (pl.Series("x", ["b", None, LONG], pl.Enum(["unused", LONG, "b"])), ["b", None, LONG], "category", None),
    (pl.Series("x", [DAY, None, dt.date(1900, 1, 1)]), [DAY, None, dt.date(1900, 1, 1)], "date", None),
    (pl.Series("x", [NOON, None, dt.datetime(1, 1, 1)]), [NOON, None, dt.datetime(1, 1, 1)], "date", None),
    (pl.Series("x", [dt.time(3), None]), [dt.time(3), None], "date", None),
    (pl.Series("x", [dt.timedelta(1), None]), [dt.timedelta(1), None], "date", None),
    (
        pl.Series("x", [Decimal("1.50"), None, Decimal("2.00")]),
        [Decimal("1.50"), None, Decimal("2.00")],
        "number",
        None,
    ),
    (pl.Series("x", [b"\x01", None, b"\x02"]), ["01", None, "02"], "text", None),
    (pl.Series("x", [None, None]), [None, None], "empty", None),
]


@pytest.mark.parametrize(
    ("native", "values", "kind", "labels"), POLARS, ids=lambda one: str(getattr(one, "dtype", ""))[:20]
)
def test_polars(native, values, kind, labels):
    check(native, values, kind, labels)


@pytest.mark.parametrize(
    ("native", "values", "kind", "labels"), POLARS, ids=lambda one: str(getattr(one, "dtype", ""))[:20]
)
def test_polars_sliced_and_in_chunks(native, values, kind, labels):
    chunks = pl.concat([native, native, native], rechunk=False)
    chunked = chunks[1 : len(chunks) - 1]
    check(chunked, (values * 3)[1:-1], kind)
    check(chunks.rechunk()[1:-1], (values * 3)[1:-1], kind)


@given(st.lists(st.one_of(st.none(), st.integers(-3, 3)), min_size=1, max_size=40), st.integers(0, 20))
def test_a_slice_anywhere(values, start):
    start = min(start, len(values) - 1)
    wanted = values[start:]
    for dtype in (pl.Int8, pl.Int64):
        kind = "integer"
        check(pl.Series("x", values, dtype)[start:], wanted, kind)
    check(pl.Series("x", values, pl.Int64).cast(pl.String)[start:], wanted, "text")
    booleans = [None if value is None else value > 0 for value in values]
    check(arrow(pa.array(booleans, pa.bool_())[start:]), booleans[start:], "boolean")


PANDAS = [
    (pd.Series([3, 1, 3]), [3, 1, 3], "integer"),
    (pd.Series([1.0, np.nan, 2.0]), ["1", None, "2"], "number"),
    (pd.Series([1.5, np.nan, 1.5]), [1.5, None, 1.5], "number"),
    (pd.Series([1, None, 3], dtype="Int16"), [1, None, 3], "integer"),
    (pd.Series([1.5, None], dtype="Float64"), [1.5, None], "number"),
    (pd.Series([True, None, False], dtype="boolean"), [True, None, False], "boolean"),
    (pd.Series([True, False]), [True, False], "boolean"),
    (pd.Series(["b", None, "a"], dtype="string"), ["b", None, "a"], "text"),
    (pd.Series(["b", None, "a"], dtype="string[pyarrow]"), ["b", None, "a"], "text"),
    (pd.Series(["b", np.nan, None, "a"], dtype=object), ["b", None, None, "a"], "text"),
    (pd.Series([1, None, 2], dtype=object), [1, None, 2], "integer"),
    (pd.Series([1, 2, None], dtype="int64[pyarrow]"), [1, 2, None], "integer"),
    (pd.Series(["b", None, LONG], dtype=pd.ArrowDtype(pa.string())), ["b", None, LONG], "text"),
    (pd.Series(["b", None, "b"], dtype="category"), ["b", None, "b"], "category"),
    (pd.Series(["b", "a"], dtype=pd.CategoricalDtype(["z", "b", "y", "a"])), ["b", "a"], "category"),
    (pd.Series([7, None, 9], dtype=pd.CategoricalDtype([9, 8, 7])), [7, None, 9], "category"),
    (pd.Series([None, None], dtype=pd.CategoricalDtype(["a"])), [None, None], "category"),
    (pd.Series(pd.to_datetime(["2024-02-29", None])), ["2024-02-29 00:00:00", None], "date"),
    (pd.Series([5, 6, 5], index=[1, 1, 1]), [5, 6, 5], "integer"),
]


@pytest.mark.parametrize(("native", "values", "kind"), PANDAS, ids=lambda one: str(getattr(one, "dtype", ""))[:20])
def test_pandas(native, values, kind):
    check(native.rename("x"), values, kind)


def dictionary(indices, levels, kind=None):
    return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(levels, kind))


ARROW = [
    (dictionary([0, None, 1, 0], ["b", "a"]), ["b", None, "a", "b"], "category"),
    (dictionary([0, 1, 2], ["b", None, "a"]), ["b", None, "a"], "text"),
    (dictionary([0, 1, 2, 3], ["b", "a", "b", "c"]), ["b", "a", "b", "c"], "text"),
    (dictionary([0, 1, 2], [1.5, NAN, 2.5]), [1.5, None, 2.5], "number"),
    (dictionary([0, 1, 2], [0.0, -0.0, 2.5]), ["0.0", "0.0", "2.5"], "number"),
    (dictionary([1, 0, 1], [10, 20]), [20, 10, 20], "category"),
    (dictionary([None, None], ["a"]), [None, None], "category"),
    (dictionary([1, 0, 1], [LONG, "b"], pa.string_view()), ["b", LONG, "b"], "category"),
    (pa.array(["b", None, "a"], pa.string_view()), ["b", None, "a"], "text"),
    (pa.array(["b", None, LONG], pa.string_view()), ["b", None, LONG], "text"),
    (pa.array(["a\0b", "", "a\0", "a"], pa.string_view()), ["a\0b", "", "a\0", "a"], "text"),
    (pa.array(["b", None, "a"], pa.large_string()), ["b", None, "a"], "text"),
    (pa.array([b"b", None], pa.binary(1)), ["62", None], "text"),
    (pa.array([b"b", None], pa.large_binary()), ["62", None], "text"),
    (pa.array([Decimal("1.50"), None], pa.decimal256(40, 2)), [Decimal("1.50"), None], "number"),
    (pa.array([1.5, None, 1.5], pa.float16()), [1.5, None, 1.5], "number"),
    (pa.array([None, None]), [None, None], "empty"),
    (pa.array([DAY, None], pa.date64()), [DAY, None], "date"),
    (pa.array([dt.time(1), None], pa.time32("s")), [dt.time(1), None], "date"),
]


@pytest.mark.parametrize(("array", "values", "kind"), ARROW, ids=lambda one: str(getattr(one, "type", ""))[:40])
def test_arrow(array, values, kind):
    check(arrow(array), values, kind)
    check(arrow(pa.concat_arrays([array, array])[1:]), (values * 2)[1:], kind)


def test_chunks_with_different_dictionaries_share_one_coding():
    chunks = pa.chunked_array([dictionary([0, 1], ["b", "a"]), dictionary([0, None, 1], ["a", "c"])])
    check(chunks, ["b", "a", "a", None, "c"], "category")


def test_categories_of_chunks_share_one_coding():
    one, two = (pl.Series("x", values, pl.Categorical) for values in (["b", "a"], ["a", "c", None]))
    check(pl.concat([one, two], rechunk=False), ["b", "a", "a", "c", None], "category")


def test_no_chunk_at_all():
    assert len(code_column(series(pa.chunked_array([], pa.string()))).codes()) == 0
    assert len(code_column(series(pl.Series("x", [], pl.String))).codes()) == 0


def test_wide_ranges_are_numbered_by_their_values():
    values = [2**40, -(2**40), None, 7, 2**40]
    check(pl.Series("x", values), values, "integer")
    assert code_column(series(pl.Series("x", values))).span == 3
    moments = [dt.datetime(2024, 1, 1), None, dt.datetime(1, 1, 1), dt.datetime(2024, 1, 1)]
    assert code_column(series(pl.Series("x", moments))).span == 2


def test_what_is_a_number():
    assert [is_number(one) for one in (0, 1.5, np.float32(2), 10**400, "1", True, math.inf, Decimal(1))] == [
        True, True, True, False, False, False, False, False,
    ]  # fmt: skip


def test_the_kind_of_a_float_with_whole_values_is_number_and_prints_without_a_point():
    coded = code_column(series(pl.Series("x", [3.0, 1.0])))
    assert (coded.kind, coded.labels(coded.codes())) == ("number", ["3", "1"])


@pytest.mark.parametrize("values", [["secret-9", 1], [1, "secret-9"], [1.5, dt.date(2024, 1, 1)]])
def test_mixed_types_are_refused_without_a_value(values):
    with pytest.raises(DataError, match=r"column 'x' mixes values of several types") as caught:
        code_column(series(pd.Series(values, dtype=object, name="x")))
    assert "secret-9" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("kind", [pl.Int128, pl.UInt128])
def test_numbers_of_128_bits_are_called_so(kind: Any) -> None:
    with pytest.raises(DataError, match="column 'x' has whole numbers of 128 bits; convert it to 64 bits"):
        code_column(series(pl.Series("x", [1, 2], dtype=kind)))


def test_texts_are_called_text_however_arrow_holds_them() -> None:
    with pytest.raises(DataError, match="weight 'w' is text, not numbers"):
        float_values(series(pl.Series("w", ["a", "b"])), "weight")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pd.Series([1j, 2j]), "is complex128"),
        (pd.Series(pd.arrays.SparseArray([0, 1])), r"is Sparse\[int64, 0\]"),
        (pd.Series(["\ud800", "b"], dtype=object), "half a character"),
        (pd.Series([2**80, 1], dtype=object), "beyond 64 bits"),
    ],
)
def test_what_arrow_cannot_hold_says_why(values, words):
    with pytest.raises(DataError, match=f"column 'x' .*{words}") as caught:
        code_column(series(values.rename("x")))
    assert caught.value.__suppress_context__


def test_numbers_too_far_apart():
    with pytest.raises(DataError, match="size 'x' spans more than"):
        float_values(series(pl.Series("x", [1e308, None, -1e308])), "size")
    with pytest.raises(DataError, match="the file: 'x' spans more than"):
        days_values(series(pl.Series("x", [1e308, -1e308])), file="the file")
    assert float_values(series(pl.Series("x", [1e308, -np.inf])), "size").tolist() == [1e308, -np.inf]
    assert float_values(series(pl.Series("x", [], dtype=pl.Float64)), "size").tolist() == []


@pytest.mark.parametrize("values", [[[1, 2]], [{"a": 1}]])
def test_lists_and_structures_are_refused(values):
    with pytest.raises(DataError, match=r"column 'x' holds .*: a variable needs one plain value per record"):
        code_column(series(pl.Series("x", values)))


def test_one_array_without_a_copy():
    for native in (pl.Series("x", np.arange(1000)), pd.Series(np.arange(1000))):
        one, two = (to_arrow(series(native)) for _ in range(2))
        assert isinstance(one, pa.Array)
        assert one.buffers()[1].address == two.buffers()[1].address


@pytest.mark.parametrize(
    ("bad", "words"),
    [([True], "row 1"), ([False, True, False, True], "rows 2, 4"), ([True] * 8, "rows 1, 2, 3, 4, 5 and 3 more")],
)
def test_rows_in_words(bad, words):
    assert first_rows(np.array(bad)) == words


@pytest.mark.parametrize(
    "native",
    [
        pl.Series("w", [1, 2, None]),
        pl.Series("w", [1.0, 2.0, None]),
        pl.Series("w", [1.0, 2.0, NAN]),
        pl.Series("w", [Decimal("1.0"), Decimal("2.0"), None]),
        pd.Series([1.0, 2.0, None], name="w"),
        pd.Series([1, 2, None], dtype="Int8", name="w"),
    ],
    ids=lambda one: f"{type(one).__module__[:6]}-{one.dtype}",
)
def test_numbers_as_floats(native):
    np.testing.assert_array_equal(float_values(series(native), "weight"), [1, 2, np.nan])


@pytest.mark.parametrize("scale", [1, 5, 13, 20])
def test_decimals_are_read_as_they_are_written_whatever_their_scale(scale):
    written = [1797.6, 3441.6, 2540.1, -0.3, None, *(i / 10 for i in range(2_000))]
    decimals = pl.Series("x", [None if value is None else Decimal(str(value)) for value in written])
    assert float_values(series(decimals.cast(pl.Decimal(38, scale))), "x").tolist()[5:] == written[5:]
    assert float_values(series(decimals.cast(pl.Decimal(38, scale))), "x").tolist()[:4] == written[:4]


def test_no_numbers_as_floats():
    assert np.isnan(float_values(series(pl.Series("w", [None, None])), "weight")).all()


@pytest.mark.parametrize("native", [pl.Series("w", ["secret-9"]), pl.Series("w", [True]), pl.Series("w", [DAY])])
def test_other_types_are_no_numbers(native):
    with pytest.raises(DataError, match=r"weight 'w' is .*, not numbers") as caught:
        float_values(series(native), "weight")
    assert "secret-9" not in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([3, None, 5], [5, 4, 3]),
        ([0.5, None, 2.5], [2.5, 0.5, 7.5]),
        ([2.0, None, 3.0], [3.0, 1.0, 2.0]),
        (["b", None, "a", "b"], ["a", "b", "c"]),
        (["a name too long for a view", None], ["b", "a name too long for a view"]),
        ([True, None], [True, False]),
        ([DAY, None], [dt.date(2019, 1, 1), DAY]),
        ([Decimal("1.5"), None], [Decimal("0.5"), Decimal("1.5")]),
    ],
)
def test_codes_of_another_column_of_the_same_values(one, other):
    here, there = (code_column(series(pa.chunked_array([pa.array(values)]))) for values in (one, other))
    values, valid, low = recoded(here, there)
    codes = np.asarray(values).astype(np.int64) - low
    known = np.ones(len(one), bool) if len(valid) == 0 else valid != 0
    assert known.tolist() == [value is not None for value in one]
    assert there.labels(codes[known]) == here.labels(here.codes()[known])


@pytest.mark.parametrize(
    ("one", "other"),
    [([3, 6], [5, 4, 3]), ([2], [3, 4]), (["b", "d"], ["a", "b"]), (["1"], [1]), ([0.5], [1, 2]), ([0.5], [1.0, 2.0])],
)
def test_no_codes_for_other_values(one, other):
    here, there = (code_column(series(pa.chunked_array([pa.array(values)]))) for values in (one, other))
    assert recoded(here, there) is None


# Levels stand in the order of their categories, whatever holds them; text by the alphabet, numbers by
# value.


ORDER = ["never", "unasked", "seldom", "often"]  # nobody answered "unasked"
ANSWERS = ["seldom", "often", "never", None, "often", "never", "seldom", "often"]
USED = ["never", "seldom", "often"]


def order_dictionary(values, order):
    places = [None if value is None else order.index(value) for value in values]
    return pa.table({"x": pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), pa.array(order))})


MAKERS = {
    "pandas": lambda values, order: pd.DataFrame({"x": pd.Categorical(values, order)}),
    "pandas, ordered": lambda values, order: pd.DataFrame({"x": pd.Categorical(values, order, ordered=True)}),
    "Polars Enum": lambda values, order: pl.DataFrame({"x": pl.Series(values, dtype=pl.Enum(order))}),
    "Arrow": order_dictionary,
}
PLAIN = {
    "pandas text": lambda values, _: pd.DataFrame({"x": values}),
    "Polars text": lambda values, _: pl.DataFrame({"x": values}),
    "Polars Categorical": lambda values, _: pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)}),
}


def levels_beside(one, other):
    return open_pair(one, other, categories={"x": ["x"]}).codes("x").labels()[1:]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_categories_keep_their_order_and_unused_ones_are_no_levels(make):
    frame = make(ANSWERS, ORDER)
    assert categories_of(code_column(open_frame(frame)["x"])) == ORDER
    assert levels_beside(frame, frame) == USED
    assert read_levels(open_frame(frame), "x").labels == USED
    assert read_variable(open_frame(frame)["x"]).labels == tuple(USED)


@pytest.mark.parametrize("make", PLAIN.values(), ids=PLAIN)
def test_text_goes_by_the_alphabet(make):
    pl.Series(["often", "seldom", "never"], dtype=pl.Categorical)  # seen before: no matter
    frame = make(ANSWERS, ORDER)
    assert categories_of(code_column(open_frame(frame)["x"])) == []
    assert levels_beside(frame, frame) == sorted(USED)
    assert read_levels(open_frame(frame), "x").labels == sorted(USED)
    assert read_variable(open_frame(frame)["x"]).labels == tuple(sorted(USED))


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_original_leads_where_two_files_have_different_orders(make):
    original = make(["b", "c", "b"], ["c", "b"])
    released = make(["a", "b", "d", "c"], ["a", "b", "c", "d"])
    assert levels_beside(original, released) == ["c", "b", "a", "d"]
    assert levels_beside(released, original) == ["a", "b", "c", "d"]
    text = pl.DataFrame({"x": ["a", "z", "c"]})
    assert levels_beside(text, original) == ["c", "b", "a", "z"]  # the only order that is declared


def test_an_order_that_the_original_declares_holds_for_levels_only_a_release_has():
    original = pd.DataFrame({"x": pd.Categorical(["low", "high"], ["low", "middle", "high"])})
    released = pd.DataFrame({"x": pd.Categorical(["middle", "high"], ["low", "middle", "high"])})
    assert levels_beside(original, released) == ["low", "middle", "high"]


def test_numbers_go_by_value():
    frame = pd.DataFrame({"x": pd.Categorical([10, 2, 1])})
    assert levels_beside(frame, frame) == ["1", "2", "10"]
    table = pa.table({"x": pa.array([10, 2, 1]).dictionary_encode()})
    assert levels_beside(table, table) == ["1", "2", "10"]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_the_first_category_is_the_base_of_a_model(make):
    many = [value or "often" for value in ANSWERS] * 5
    numbers = [float(i * 7 % 11) for i in range(len(many))]

    def with_pay(frame):
        if isinstance(frame, pa.Table):
            return frame.append_column("pay", pa.array(numbers))
        return (
            frame.assign(pay=numbers) if isinstance(frame, pd.DataFrame) else frame.with_columns(pay=pl.Series(numbers))
        )

    files = [with_pay(make(values, ORDER)) for values in (many, many[3:] + many[:3])]
    found = sdc.compare_models(*files, formula="pay ~ x")
    terms = open_frame(found.table)["term"].to_list()
    assert terms == ["Intercept", "x[T.seldom]", "x[T.often]"]
    shares = sdc.compare_estimates(*files, statistic="proportion", variables=["x"])
    assert open_frame(shares.table)["term"].to_list() == ["x=never", "x=seldom", "x=often"]
    table = sdc.compare_distributions(*files, variables=["x"]).table("x")
    assert open_frame(table)["level"].to_list() == USED


def test_value_labels_keep_the_order_of_their_codes(tmp_path):
    frame = pd.DataFrame({"x": [3, 1, 2, 3, 1, 2], "band": [1, 2, 3, 1, 2, 3]})
    bands = {1: "under 15", 2: "15-19", 3: "20-24"}
    labels = {"x": {1: "never", 2: "seldom", 3: "often", 4: "unasked"}, "band": bands}
    pyreadstat.write_sav(frame, str(tmp_path / "x.sav"), variable_value_labels=labels)
    found = read_file(tmp_path / "x.sav")
    assert levels_beside(found, found) == USED
    kinds = sdc.key_contributions(pl.concat([found] * 5), keys=["x", "band"]).coarsenings
    assert {key: one.scale for key, one in kinds.items()} == {"x": "codes", "band": "ordered"}


@given(st.lists(st.text("abc", min_size=1, max_size=2), unique=True), st.lists(st.text("abc", max_size=2), unique=True))
def test_every_value_once_in_the_declared_order(values, declared):
    found = in_order(values, declared)
    assert sorted(found) == sorted(values)
    known = [value for value in found if value in declared]
    assert known == [value for value in declared if value in values] == found[: len(known)]
    assert found[len(known) :] == sorted(found[len(known) :])
    assert [values[place] for place in places_in_order(values, declared)] == found


def test_the_joint_order_names_every_category_once():
    files = [code_column(open_frame(make(ANSWERS, ORDER))["x"]) for make in MAKERS.values()]
    assert joint_categories(files) == ORDER
    assert joint_categories([]) == []


# How many values differ: by value, not by type.


def count(before: object, after: object) -> int:
    frames = [nw.from_native(pl.DataFrame({"a": one}, strict=False)) for one in (before, after)]
    return n_differing(*frames)["a"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([1, 2, 3], [1, 2, 4], 1),
        ([1, 2, None], [1.0, 2.5, None], 1),
        ([1, None, 3], [None, None, 3], 1),
        (["a", "b"], ["a", None], 1),
        ([1, 2, None], ["1", "2", None], 2),
        ([1, 2], [None, None], 2),
        ([float("nan"), 1.0], [float("nan"), None], 1),
        ([True, False], [True, True], 1),
        ([[1], [2]], [[1], [3]], 1),
        (["a", "b"], pl.Series(["a", "c"], dtype=pl.Categorical), 1),
        ([1, 3], pl.Series(["0-2", "3+"], dtype=pl.Enum(["0-2", "3+"])), 2),
    ],
)
def test_counts(before: object, after: object, expected: int) -> None:
    assert count(before, after) == expected


def test_a_column_left_out_differs_wholly_and_a_new_one_does_not_count() -> None:
    before = nw.from_native(pl.DataFrame({"a": [1, 2], "b": [1, 2]}))
    after = nw.from_native(pl.DataFrame({"b": [1, 2], "c": [1, 2]}))
    assert n_differing(before, after) == {"a": 2, "b": 0}


def test_a_column_of_polars_may_come_as_it_is() -> None:
    assert to_arrow(pl.Series("a", [1, None, 3])).to_pylist() == [1, None, 3]  # type: ignore[arg-type]


def test_pandas_types() -> None:
    before = pd.DataFrame({"a": [1, 2, 3], "b": pd.Categorical(["x", "y", None])})
    after = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": ["x", "z", None]})
    assert n_differing(nw.from_native(before), nw.from_native(after)) == {"a": 1, "b": 1}


def test_other_rows_are_refused() -> None:
    with pytest.raises(DataError, match="2 and 1 rows"):
        count([1, 2], [1])


def test_the_message_about_weights_without_rows():
    assert bad_weights("w", 0, 2, 0).startswith("weight 'w': 2 zero or negative; every record")


def test_whole_weights_are_weights():
    frame = nw.from_native(pl.DataFrame({"w": [1, 2]}))
    assert checked_weight(frame["w"]).tolist() == [1.0, 2.0]


PANDAS_COLUMNS: dict[str, Any] = {
    "whole": np.arange(3, dtype=np.int16),
    "a view of a matrix": np.arange(6.0).reshape(3, 2)[:, 1],
    "numbers": [1.5, np.nan, -np.inf],
    "flags": [True, False, True],
    "objects": pd.Series(["a", None, np.nan], dtype=object),
    "mixed": pd.Series(["a", 1, None], dtype=object),
    "text": ["a", None, "b"],
    "text of Python": pd.Series(["a", None, "b"], dtype="string[python]"),
    "whole, missing": pd.Series([1, None, 3], dtype="Int64"),
    "flags, missing": pd.Series([True, None, False], dtype="boolean"),
    "Arrow": pd.Series([[1], None, []], dtype=pd.ArrowDtype(pa.list_(pa.int64()))),
    "moments": pd.to_datetime(["2020-01-01", None, "1999-12-31"]),
    "moments with a zone": pd.date_range("2020", periods=3, tz="Europe/Berlin"),
    "durations": pd.to_timedelta([1, None, 2], unit="D"),
    "periods": pd.period_range("2020-01", periods=3, freq="M"),
    "intervals": pd.interval_range(0, 3),
    "categories": pd.Categorical(["a", None, "b"]),
    "sparse": pd.arrays.SparseArray([0, 1, 0]),
}


@pytest.mark.parametrize("kind", PANDAS_COLUMNS)
def test_pandas_columns_are_what_pandas_hands_out(kind: str) -> None:
    """Its own way takes longer for each column than some thousand records: ours gives the same, or the same refusal."""
    series = nw.from_native(pd.Series(PANDAS_COLUMNS[kind]), series_only=True)
    try:
        own = pa.chunked_array(series).combine_chunks()
    except (pa.ArrowException, TypeError):
        with pytest.raises(DataError):
            to_arrow(series)
        return
    array = to_arrow(series)
    assert array.type in (own.type, pa.large_string())
    assert array.null_count == own.null_count
    assert repr(array.to_pylist()) == repr(own.to_pylist())


def test_codes_of_polars_categories_do_not_go_by_what_the_process_has_read():
    """Draws among ties go by codes: the same file and secret gave another release in another process."""
    values = ["process-c", None, "process-a", "process-b", "process-a"]
    known = pl.Series(["process-a", "process-b", "process-c"]).cast(pl.Categorical)  # in another order
    named = pl.Series("job", values).cast(pl.Categorical)
    coded = code_column(series(named))
    assert (coded.codes().tolist(), coded.labels(np.arange(coded.span))) == (
        [0, 3, 1, 2, 1], ["process-c", "process-a", "process-b"]
    )  # fmt: skip
    assert code_column(series(known)).codes().tolist() == [0, 1, 2]
    rng = np.random.default_rng(3)
    people = pl.DataFrame({name: [values[at] for at in rng.choice([0, 2, 3], 30)] for name in ("job", "kin")})
    people = people.with_columns(x=rng.integers(0, 4, 30))
    recipe = sdc.Recipe([{"method": "local_suppression", "keys": ["job", "kin", "x"], "k": 3, "true_keys": True}])
    made = [
        recipe.apply(file, secret="ab" * 32).data.rows()
        for file in (people, people.with_columns(pl.col("job", "kin").cast(pl.Categorical)))
    ]
    assert made[0] == made[1]
