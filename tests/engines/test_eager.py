"""Every frame in memory: the same figures, the caller's frame type, order and index."""

from __future__ import annotations

import datetime as dt
import decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import sdckit
from draw import quiet
from engines.comparing import assert_same_figures

KEYS = ["area", "sex", "size", "rural", "born"]
LEVELS = {
    "area": [1, 2, 30],
    "sex": ["f", "m", "a text of more than twelve bytes"],
    "size": [0.5, 1.0, -0.0],
    "rural": [True, False],
    "born": [dt.date(1980, 1, 1), dt.date(2001, 12, 31)],
    "health": ["good", "bad", "fair"],
    "hh": [1, 2, 3, 4, 5, 6],
}
TYPES = {"area": pl.Int32, "size": pl.Float64, "rural": pl.Boolean, "born": pl.Date, "hh": pl.Int64}


def as_numpy(frame):
    return frame.to_pandas()


def as_nullable(frame):
    return frame.to_pandas().convert_dtypes()


def as_arrow_backed(frame):
    return frame.to_pandas(use_pyarrow_extension_array=True)


def as_objects(frame):
    return pd.DataFrame({name: pd.Series(frame[name].to_list(), dtype=object) for name in frame.columns}).astype(
        {"w": float}
    )


def as_pandas_categories(frame):
    native = frame.to_pandas()
    return native.assign(**{key: native[key].astype("category") for key in [*KEYS, "health", "hh"]})


def with_an_index(frame):
    return frame.to_pandas().set_index(pd.Index([i // 2 for i in range(len(frame))][::-1], name="old"))


def as_table(frame):
    return frame.to_arrow()


def as_dictionaries(frame):
    table = frame.to_arrow()
    for i, name in enumerate(table.column_names):
        column = table[name]
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.string())
        if name != "w":
            table = table.set_column(i, name, column.dictionary_encode())
    return table


def in_chunks(frame):
    half = len(frame) // 2
    return pa.concat_tables([as_dictionaries(part) for part in (frame[:half], frame[half:]) if len(part)])


def as_polars_chunks(frame):
    return pl.concat([frame[:1], frame[1:]], rechunk=False)


def as_polars_categories(frame):
    return frame.with_columns(
        pl.col("sex").cast(pl.Categorical), pl.col("health").cast(pl.Enum(sorted(LEVELS["health"])))
    )


def as_a_slice(frame):
    return pl.concat([frame, frame, frame])[len(frame) : 2 * len(frame)]


def with_nan(frame):
    return frame.with_columns(pl.col("size").fill_null(float("nan")))


ENGINES = [
    as_numpy, as_nullable, as_arrow_backed, as_objects, as_pandas_categories, with_an_index, as_table, as_dictionaries,
    in_chunks, as_polars_chunks, as_polars_categories, as_a_slice, with_nan,
]  # fmt: skip


RECODED = (as_pandas_categories, as_dictionaries, in_chunks)


@st.composite
def frames(draw):
    n = draw(st.integers(2, 15))
    columns = {}
    for name, levels in LEVELS.items():
        gaps = [] if name in {"rural", "hh"} else [None]
        values = draw(st.lists(st.sampled_from([*levels, *gaps]), min_size=n, max_size=n))
        values[0] = levels[0]  # no column without any value
        columns[name] = pl.Series(name, values, TYPES.get(name, pl.String))
    weights = draw(st.lists(st.integers(4, 100).map(lambda w: w / 4), min_size=n, max_size=n))
    return pl.DataFrame({**columns, "w": weights})


def measures(frame, missing):
    known = {"keys": KEYS, "missing": missing}
    with quiet():
        return [
            sdckit.key_frequencies(frame, **known, weight="w", alpha=0.5),
            sdckit.k_anonymity(frame, **known),
            sdckit.individual_risk(frame, **known, weight="w", household="hh", threshold="mad"),
            sdckit.household_structure(frame, keys=KEYS, household="hh", weight="w"),
            sdckit.key_contributions(frame, **known, weight="w", pairs=False),
            sdckit.l_diversity(frame, **known, sensitive="health"),
        ]


def figures(result, engine):
    """All figures; a number that comes as a category has no neighbours to be merged with."""
    found = result.to_dict()
    if engine in RECODED:
        for name in ("coarsening_figures", "suggestion_figures"):
            found["figures"].pop(name, None)
        if found["measure"] == "key_contributions":
            found["notes"].pop("coarsenings", None)
    return found


def plain(records):
    if isinstance(records, pd.DataFrame):
        return {name: records[name].tolist() for name in records.columns}
    return records.to_pydict() if isinstance(records, pa.Table) else records.to_dict(as_series=False)


def check(frame, engine, missing):
    native = engine(frame)
    before = native.copy() if isinstance(native, pd.DataFrame) else native
    for expected, found in zip(measures(frame, missing), measures(native, missing), strict=True):
        assert_same_figures(figures(expected, engine), figures(found, engine), found.measure)
        if found.measure == "key_contributions":
            continue
        records = found.records
        assert type(records) is type(native)
        if isinstance(native, pd.DataFrame):
            assert records.index.equals(native.index)
            assert records.index.names == native.index.names
        assert_same_figures(plain(expected.records), plain(records), found.measure)
    if isinstance(native, pd.DataFrame):
        pd.testing.assert_frame_equal(native, before)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
@given(frame=frames(), missing=st.sampled_from(["wildcard", "category", {"sex": "category"}]))
@settings(max_examples=8)
def test_the_same_on_every_engine(engine, frame, missing):
    check(frame, engine, missing)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.__name__)
def test_the_same_on_a_larger_file(engine):
    rng = np.random.default_rng(11)
    n = 3000
    columns = {
        name: pl.Series(name, [levels[i] for i in rng.integers(0, len(levels), n)], TYPES.get(name, pl.String))
        for name, levels in LEVELS.items()
    }
    frame = pl.DataFrame({**columns, "hh": rng.integers(0, 900, n), "w": rng.integers(4, 900, n) / 4})
    gaps = [pl.when(pl.Series(rng.random(n) < 0.1)).then(None).otherwise(pl.col(key)).alias(key) for key in KEYS[:3]]
    check(frame.with_columns(gaps), engine, "wildcard")


def test_types_that_arrow_itself_does_not_compute_with():
    """Views, runs, decimals of other widths, calendar intervals and dictionaries that list a missing value."""
    several = [place % 3 for place in range(60)]
    texts = [("a", None, "c")[place] for place in several]
    runs = pa.RunEndEncodedArray.from_arrays(pa.array(range(1, 61), pa.int32()), pa.array(texts))
    listing = pa.DictionaryArray.from_arrays(pa.array(several, pa.int8()), pa.array(["a", None, "c"]))
    spans = [None if text is None else pa.MonthDayNano([0, ord(text), 0]) for text in texts]
    numbers = [None if text is None else decimal.Decimal(ord(text)) for text in texts]
    kinds = (pa.decimal32(5, 1), pa.decimal64(9, 1), pa.decimal256(50, 2), pa.decimal256(76, 38))
    columns = [pa.array(texts, pa.string_view()), runs, listing, pa.array(spans, pa.month_day_nano_interval())]
    columns += [pa.array(numbers, kind) for kind in kinds]
    others = {"sex": pa.array(["f", "m"] * 30), "ill": pa.array(["p", "q", "r", "s"] * 15)}
    scenario = sdckit.Scenario(keys=["sex", "x"], sensitive=["ill"], thresholds={"k": 20})
    expected, rules = None, ("category", "wildcard")
    tables = [pa.table({**others, "x": column}) for column in [pa.array(texts), *columns]]
    for table in [*tables, *(table.to_pandas(types_mapper=pd.ArrowDtype) for table in tables)]:
        figures = [sdckit.k_anonymity(table, keys=["sex", "x"], missing=rule).violations for rule in rules]
        verdicts = [(verdict.holds, verdict.n_records) for verdict in sdckit.check(table, scenario=scenario).verdicts]
        made = sdckit.random_order(sdckit.local_suppression(table, keys=["sex", "x"], k=12).data, seed=1).data
        n_missing = made["x"].null_count if isinstance(made, pa.Table) else made["x"].isna().sum()
        done = figures, verdicts, n_missing, len(sdckit.guess_roles(table))
        expected = done if expected is None else expected
        assert done == expected
        compared = sdckit.check(table, table[1:], scenario=scenario)
        assert [verdict.holds for verdict in compared.verdicts] == [False]


def test_a_span_of_duckdb_is_assessed():
    plan = duckdb.sql("select i % 2 as a, to_days((i % 3)::int) as span, i // 30 as ill from range(60) r(i)")
    scenario = sdckit.Scenario(keys=["a", "span"], sensitive=["ill"], thresholds={"k": 10})
    assert sdckit.check(plan, scenario=scenario).passed
    assert sdckit.assess(plan, scenario=scenario)["default"]["k_anonymity"].level == 10
    assert len(sdckit.guess_roles(plan)) == 3
