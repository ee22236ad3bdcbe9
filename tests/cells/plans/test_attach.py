"""Figures beside the records of a plan, by their keys: missing values meet, and no others."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from draw import files
from plans import FEW, collected, duckdb_relation, on_engines, opened, polars_plan
from sdckit.cells.plans import attach as attaching
from sdckit.cells.plans.attach import attach, new_records, uploaded
from sdckit.cells.plans.count_cells import group_keys
from sdckit.data.frames import collect
from sdckit.data.scenarios.roles import resolve_roles
from sdckit.errors import DataError


def numbered(frame, names):
    """The plan with the number of each record's cell beside it, and the cells."""
    found = group_keys(frame, resolve_roles(keys=names)).bring()
    place = np.arange(len(found.frame), dtype=np.float64)
    return attach(frame, found.keys, found.frame.to_arrow(), {"place": place}), found


@on_engines
@FEW
@given(file=files(max_rows=14))
def test_each_record_finds_its_cell(plan, file):
    frame, found = numbered(opened(plan, file.frame()), file.keys)
    shown = collected(frame)
    cells = pl.DataFrame(found.frame.to_arrow()).select(file.keys).rows()
    assert [cells[int(at)] for at in shown["place"].to_list()] == file.frame().select(file.keys).rows()
    assert shown.columns == [*file.frame().columns, "row", "place"]


@on_engines
def test_types_of_every_kind_meet(plan):
    when = dt.datetime(2024, 2, 29, 12, 30, 15)
    columns = pl.DataFrame(
        {
            "day": [when.date(), None, dt.date(1970, 1, 1)],
            "time": [when, None, when + dt.timedelta(microseconds=1)],
            "clock": [when.time(), None, dt.time(12, 30, 15, 7)],
            "flag": [True, None, False],
            "half": [0.5, float("nan"), 0.0],
            "kind": pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b"])),
        }
    )
    for name in columns.columns:
        frame, found = numbered(opened(plan, columns.select(name)), [name])
        assert len(found.frame) == 3, name
        assert sorted(collected(frame)["place"].to_list()) == [0.0, 1.0, 2.0], name


def test_another_engine_is_refused_by_name():
    none = ("is_pyspark", "is_pyspark_connect", "is_polars", "is_duckdb")
    engine = SimpleNamespace(value="ibis", **dict.fromkeys(none, lambda: False))
    with pytest.raises(DataError, match="plans of ibis are not supported; collect the data first"):
        attach(SimpleNamespace(implementation=engine), [], pa.table({}), {})


@FEW
@given(file=files(max_rows=14), word=st.sampled_from([63, 6, 3]))
def test_words_are_equal_where_all_columns_are(file, word):
    """Whatever a word holds: codes that fill more are numbered on the way."""
    table = file.frame().select(file.keys).to_arrow()
    columns = {name: table.column(name) for name in file.keys}
    levels = [attaching._levels(column) for column in columns.values()]
    widest = max(len(one).bit_length() for one in levels)
    before, attaching.WORD = attaching.WORD, max(word, 2 * widest, widest + len(file.rows).bit_length())
    try:
        words = attaching._packing(columns, levels)(columns)
    finally:
        attaching.WORD = before
    of_word = dict(zip(words.tolist(), file.rows, strict=True))
    assert [of_word[one] for one in words.tolist()] == file.rows
    assert len(set(words.tolist())) == len(set(file.rows))


WORKER = """
import sys
class Refuse:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in {"sdckit", "numba", "scipy", "narwhals", "pandas"}:
            raise ImportError(name)
sys.meta_path.insert(0, Refuse())
from pyspark import cloudpickle
over, batch = cloudpickle.loads(sys.stdin.buffer.read())
print([one.column("f").to_pylist() for one in over(iter([batch]))])
"""


def test_what_goes_to_workers_needs_nothing_of_ours(monkeypatch):
    """As Spark sends it, in a Python that refuses to import sdckit, numba, scipy and pandas."""
    from pyspark import cloudpickle

    frame = opened(polars_plan, {"a": ["x", "y", None], "b": [1, 2, 2]})
    found = group_keys(frame, resolve_roles(keys=["a", "b"])).bring()
    sent = []

    class Native:
        schema = SimpleNamespace(fields=[])

        def mapInArrow(self, function, schema):  # noqa: N802
            sent.append(function)
            return frame.to_native()

    plan = SimpleNamespace(
        implementation=SimpleNamespace(is_pyspark=lambda: True),
        collect_schema=frame.collect_schema,
        with_columns=lambda *columns: SimpleNamespace(to_native=Native),
    )
    order = pl.DataFrame(found.frame.to_arrow())["b"].to_numpy()
    attach(plan, found.keys, found.frame.to_arrow(), {"f": order * 10})
    batch = pa.record_batch(
        {
            "a": ["y", None, "x"], "b": [2, 2, 1], "row": [1, 2, 0],
            "sdckit__left0": ["y", None, "x"], "sdckit__left1": [2, 2, 1],
        }
    )  # fmt: skip
    assert [one.column("f").to_pylist() for one in sent[0](iter([batch]))] == [[20, 20, 10]]
    for a, b in (("z", 2), ("x", 2)):  # a new value, and a new combination of old ones
        other = [pa.array([a]), pa.array([b]), pa.array([0]), pa.array([a]), pa.array([b])]
        with pytest.raises(ValueError, match="no longer those that were measured: measure again"):
            list(sent[0](iter([pa.record_batch(other, batch.schema.names)])))
    given_away = cloudpickle.dumps((sent[0], batch))
    done = subprocess.run([sys.executable, "-c", WORKER], input=given_away, capture_output=True, check=False)
    assert done.stdout.decode().strip() == "[[20, 20, 10]]", done.stderr.decode()


# Records made here as a plan: their order and types, and codes that become texts when it is carried out.


FILE = {"t": ["b", None, "a"], "i": pl.Series([3, None, 2], dtype=pl.Int16), "d": np.arange(3).astype("datetime64[D]")}


@on_engines
def test_a_table_on_the_engine_of_another_plan(plan: Any) -> None:
    like = opened(plan, FILE)
    found = uploaded(pa.table({"x": [2, 1, 3]}), like)
    assert found.implementation is like.implementation
    assert collect(found)["x"].to_list() == [2, 1, 3]


@on_engines
def test_records_keep_their_order_and_the_types_of_the_other_plan(plan: Any) -> None:
    like = opened(plan, FILE)
    levels = pa.array(["a", "b"])
    table = pa.table(
        {
            "t": pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int32()), levels),
            "n": pa.array([7, 8, None, 9], pa.int64()),
            "half": pa.array([0.5, None, 1.5, 2.5]),
            "d": pa.array([0, 1, None, 2], pa.int32()).cast(pa.date32()),
        }
    )
    made = new_records(table, like, {"t": "t", "n": "i", "d": "d"})
    schema = made.collect_schema()
    assert [schema[name] for name in ("t", "n", "half", "d")] == [nw.String, nw.Int16, nw.Float64, nw.Date]
    found = collect(made)
    assert found["t"].to_list() == ["b", None, "a", "b"]
    assert found["n"].to_list() == [7, 8, None, 9]
    assert found["half"].to_list() == [0.5, None, 1.5, 2.5]
    assert [None if one is None else one.day for one in found["d"].to_list()] == [1, 2, None, 3]
    assert found.columns == table.column_names


@pytest.mark.parametrize("kind", ["HUGEINT", "TINYINT", "TIMESTAMP", "BOOLEAN"])
def test_types_of_duckdb(kind: str) -> None:
    value = "'2020-02-29 12:30:00'" if kind == "TIMESTAMP" else "1"
    relation = duckdb_relation(pl.DataFrame({"a": [1]})).query("v", f"SELECT {value}::{kind} AS x FROM v")
    like: nw.LazyFrame[Any] = nw.from_native(relation)
    made = new_records(collect(like).to_arrow(), like, {"x": "x"}).to_native()
    assert made.types == relation.types
    assert made.fetchall() == relation.fetchall()
