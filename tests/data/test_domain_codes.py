"""Records to codes and back: no value of a record stops it, or changes the code of another."""

from __future__ import annotations

import warnings
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

from data.declared import COLUMNS, DOMAIN
from sdckit.data.domain import Domain, DomainColumn
from sdckit.errors import ColumnError

ODD: list[Any] = [
    None, float("nan"), float("inf"), 10**400, 2**63, 2**64, "34", "34.0", " 34 ", 34, 34.0, np.int8(34), True, "true",
    np.float32(34), Decimal(34), Decimal("sNaN"), Decimal("NaN"), date(2020, 1, 1), datetime(2020, 1, 1, 5),
    pd.Timestamp("2020-01-01"), pd.NaT, pd.NA, b"f", "f", "\ud800", [1], {"a": 1}, object(), "", "NA", ".", "1e999",
    "nan", -0.0, 0, "2020-01-01", time(1), timedelta(1), 1 + 2j, np.datetime64("2020-01-01"), np.datetime64("NaT"),
    "\0", 3, "3", 3.5, 0.5, "0.50", -1, date(9999, 12, 31), "2020-13-45", np.array([1, 2]),
]  # fmt: skip


def of(value: Any) -> Any:
    """One record that has a value in every column, in the type that pandas gives it."""
    try:
        series = pd.Series([value])
        assert len(series) == 1
    except Exception:  # noqa: BLE001 (whatever pandas raises of it)
        series = pd.Series([None], dtype=object)
        series[0] = value
    return pd.DataFrame(dict.fromkeys(DOMAIN.names, series))


def objects(values: list[Any]) -> Any:
    series = pd.Series([None] * len(values), dtype=object)
    for i, value in enumerate(values):
        series[i] = value
    return pd.DataFrame(dict.fromkeys(DOMAIN.names, series))


def test_a_value_has_its_code_whatever_stands_beside_it() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        together = DOMAIN.encode(objects(ODD))
        for value, expected in zip(ODD, together.tolist(), strict=True):
            if not isinstance(value, list | dict | np.ndarray):
                assert DOMAIN.encode(of(value))[0].tolist() == expected, repr(value)[:30]


@given(st.lists(st.sampled_from(ODD), max_size=6), st.sampled_from(ODD))
@settings(max_examples=30, deadline=None)
def test_one_record_more_changes_no_code_of_another(values: list[Any], more: Any) -> None:
    without, beside = DOMAIN.encode(objects(values)), DOMAIN.encode(objects([*values, more]))
    assert beside[: len(values)].tolist() == without.tolist()
    assert beside.dtype == without.dtype == np.int32


def test_codes() -> None:
    values = pl.DataFrame({
        "sex": ["f", "x", None], "age": [17, 120, 121], "income": [1000.5, 1e6, -1.0],
        "employed": [False, True, None], "born": [date(1950, 1, 1), date(2020, 12, 31), date(1899, 1, 1)],
        "rooms": [1, 4, None], "wave": [date(2020, 1, 1), date(2020, 1, 2), None], "rate": [0.5, 0.7, None],
        "not asked": ["a", "b", "c"],
    })  # fmt: skip
    expected = [[0, 0, 1, 0, 1, 1, 0, 0], [2, 2, 1, 1, 1, 3, 1, 2], [3, 3, 2, 3, 2, 4, 2, 3]]
    for frame in (values, values.to_pandas(), values.to_arrow(), values.lazy()):
        assert DOMAIN.encode(frame).tolist() == expected


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.time64("us"), 1), (pa.duration("s"), 1), (pa.list_(pa.int64()), [1]), (pa.binary(), b"f"),
        (pa.struct({"f": pa.int64()}), {"f": 1}), (pa.binary_view(), b"f"), (pa.uint64(), 2**64 - 1),
        (pa.decimal256(50, 2), Decimal(10) ** 40), (pa.month_day_nano_interval(), None), (pa.null(), None),
    ],
)  # fmt: skip
def test_other_types_are_other(kind: Any, value: Any) -> None:
    array = pa.array([value, None], kind)
    coded = DOMAIN.encode(pa.table(dict.fromkeys(DOMAIN.names, array)))
    sizes = np.array(DOMAIN.sizes)
    assert coded[1].tolist() == (sizes - 1).tolist()
    if value is not None:
        assert coded[0].tolist() == (sizes - 2).tolist()


@pytest.mark.parametrize("days", [2**31 - 1, -(2**31), 2932897])
def test_a_day_beyond_all_years_is_other(days: int) -> None:
    array = pa.array([days], pa.int32()).view(pa.date32())
    assert DOMAIN.encode(pa.table(dict.fromkeys(DOMAIN.names, array)))[0].tolist() == [
        size - 2 for size in DOMAIN.sizes
    ]


def test_missing_codes_are_those_declared_and_a_level_means_itself() -> None:
    columns = (DomainColumn("a", levels=("NA", "x")), DomainColumn("b", "integer", levels=(-9, 1)),
               DomainColumn("c", "integer", edges=(-10, 0, 10)))  # fmt: skip
    frame = pl.DataFrame({"a": ["NA", "-8", ""], "b": [-9, -8, 1], "c": [-8, -7, 10]})
    assert Domain(columns, missing=("-9", "-8", "NA")).encode(frame).tolist() == [[0, 0, 3], [3, 3, 0], [3, 1, 1]]


def test_of_a_person_the_first_rows_are_kept() -> None:
    domain = Domain((DomainColumn("n", "integer", levels=tuple(range(8))),), person="who", max_rows=2)
    who = ["a", "b", "a", "a", None, "b", "b", "c"]
    for ids in (who, [{"a": 1, "b": 2, "c": 3}.get(w or "") for w in who], pd.Series(who, dtype=object)):
        frame = pd.DataFrame({"n": range(8), "who": ids})
        assert domain.encode(frame)[:, 0].tolist() == [0, 1, 2, 5, 7]
    mixed = pd.DataFrame({"n": range(4), "who": pd.Series([1, "1", 1.0, object()], dtype=object)})
    assert domain.encode(mixed)[:, 0].tolist() == [0, 1]


def kept(who: Any) -> list[int]:
    domain = Domain((DomainColumn("n", "integer", levels=tuple(range(8))),), person="who")
    data = {"n": range(len(who)), "who": who}
    return domain.encode(pl.DataFrame(data) if isinstance(who, pl.Series) else pd.DataFrame(data))[:, 0].tolist()


@pytest.mark.parametrize("kind", [pl.Time, pl.Duration, pl.List(pl.Int64), pl.Struct({"a": pl.Int64})])
def test_a_person_is_no_time_and_no_list(kind: Any) -> None:
    domain = Domain((DomainColumn("n", "integer", levels=(1, 2)),), person="who")
    frame = pl.DataFrame({"n": [1], "who": [None]}, schema_overrides={"who": kind})
    for data in (frame, frame.lazy()):
        with pytest.raises(ColumnError, match="the column of persons, 'who', is of type"):
            domain.encode(data)
    times = pd.DataFrame({"n": [1, 2, 1], "who": [time(1), time(1), timedelta(3)]}, dtype=object)
    assert domain.encode(times)[:, 0].tolist() == [0, 0]


def test_rows_without_a_person_are_left_out() -> None:
    for who in (["NA", "a", "", "a", "NA", None, "."], pd.Series(["", 1, "NA", 1.0, None], dtype=object)):
        assert kept(who) == [1]


BIG = 2**53


@pytest.mark.parametrize(
    "who",
    [
        pl.Series([BIG, BIG + 1, BIG], dtype=pl.Int128),
        pl.Series([Decimal(BIG), Decimal(BIG + 1), Decimal(BIG)], dtype=pl.Decimal(38, 2)),
        pd.Series([Decimal(BIG), Decimal(BIG + 1), Decimal(f"{BIG}.0")], dtype=object),
        pl.Series([datetime(2020, 1, 1), datetime(2020, 1, 1, 5), datetime(2020, 1, 1)]),
        pd.Series([datetime(2020, 1, 1), datetime(2020, 1, 1, 5), datetime(2020, 1, 1)], dtype=object),
        pl.Series([b"a", b"b", b"a"]), pd.Series([b"a", b"b", b"a"], dtype=object),
        pd.Series([UUID(int=1), UUID(int=2), UUID(int=1)], dtype=object),
    ],
)  # fmt: skip
def test_persons_that_differ_are_never_one(who: Any) -> None:
    assert kept(who) == [0, 1]


def test_no_record_is_no_reason_to_stop() -> None:
    assert DOMAIN.encode(pd.DataFrame({name: [] for name in DOMAIN.names})).shape == (0, 8)
    person = Domain(COLUMNS, person="who", max_rows=3)
    assert person.encode(pl.DataFrame({name: [] for name in (*DOMAIN.names, "who")})).shape == (0, 8)


@given(st.lists(st.tuples(*(st.integers(0, size - 1) for size in DOMAIN.sizes)), max_size=20))
@settings(max_examples=20, deadline=None)
def test_back_and_forth_in_every_engine(rows: list[tuple[int, ...]]) -> None:
    codes = np.array(rows, np.int32).reshape(-1, len(COLUMNS))
    kept = codes.copy()
    for i, column in enumerate(COLUMNS):
        if column.type != "text":  # no other type can say `other`
            kept[kept[:, i] == column.size - 2, i] = column.size - 1
    for backend in ("polars", "pandas", "pyarrow"):
        assert DOMAIN.encode(DOMAIN.decode(codes, backend=backend)).tolist() == kept.tolist()


def types(frame: Any) -> Any:
    if isinstance(frame, pd.DataFrame):
        return [(name, kind, list(getattr(kind, "categories", []))) for name, kind in frame.dtypes.items()]
    return frame.schema


@given(st.lists(st.sampled_from(ODD), max_size=5), st.lists(st.sampled_from(ODD), max_size=5))
@settings(max_examples=15, deadline=None)
def test_columns_types_and_categories_follow_from_the_domain(first: list[Any], second: list[Any]) -> None:
    codes = [DOMAIN.encode(objects(values)) for values in (first, second)]
    for backend in ("polars", "pandas", "pyarrow"):
        one_way, other_way = (types(DOMAIN.decode(part, backend=backend)) for part in codes)
        assert one_way == other_way


def test_numbers_stand_within_their_bands() -> None:
    codes = np.array([[0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 1, 0, 1, 0, 0, 0]])
    low = DOMAIN.decode(codes, positions=np.zeros(codes.shape))
    high = DOMAIN.decode(codes, positions=np.full(codes.shape, 1 - 2**-53))
    assert low["age"].to_list() == [0, 65]
    assert high["age"].to_list() == [17, 120]
    assert low["born"].to_list() == [date(1900, 1, 1), date(1950, 1, 1)]
    assert high["born"].to_list() == [date(1949, 12, 31), date(2020, 12, 31)]
    assert low["income"].to_list() == [0, 1000.5]
