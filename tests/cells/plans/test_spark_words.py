"""Whole numbers in words: what is read of a record gives its columns back. On Spark itself: engines/test_spark.py."""

from __future__ import annotations

from collections import Counter
from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from sdckit.cells.plans import count_cells, spark_words
from sdckit.cells.plans.count_cells import Beside, TooManyCellsError
from sdckit.cells.plans.spark_words import WordsHere, in_words, read_words

COLUMNS = ["a", "b", "c", "text", "none", "huge", "wide"]
NUMBERS = st.one_of(st.none(), st.integers(-300, 300))


def rows(columns: dict[str, Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(st.fixed_dictionaries(columns), min_size=2, max_size=12)


FILE = rows(
    {
        "a": NUMBERS, "b": st.one_of(st.none(), st.booleans()), "c": st.integers(-(2**40), 2**40),
        "text": st.sampled_from(["x", None]), "none": st.none(), "huge": st.sampled_from([0, 2**62]),
        "wide": st.sampled_from([-(2**52), 2**52]),
    }
)  # fmt: skip
TYPES = {"a": pl.Int64, "b": pl.Boolean, "c": pl.Int64, "text": pl.String, "none": pl.Int64, "huge": pl.Int64,
         "wide": pl.Int64}  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(st.lists(FILE, min_size=1, max_size=3))
def test_columns_come_back(files: list[Any]) -> None:
    """Of several files, whose words are alike; what has no least number of 53 bits stays as it is."""
    frames = [pl.DataFrame(own, schema=TYPES) for own in files]
    plans: list[Any] = [nw.from_native(frame.lazy()) for frame in frames]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_words, "on_spark", lambda _: True)
        words = in_words(plans, COLUMNS)
    assert {"text", "none"} <= set(words.others)
    made = [[nw.col(name) if name in words.others else words.read[name].alias(name) for name in words.columns]]
    for frame, plan in zip(frames, plans, strict=True):
        counted = nw.from_native(plan.select(*made[0]).collect().to_arrow(), eager_only=True)
        back = words.unpacked(counted).select(*COLUMNS).to_polars()
        assert back.cast(TYPES).equals(frame)


def test_words_are_of_spark_alone() -> None:
    """Other engines count columns as they are; so does Spark a single one."""
    plan: Any = nw.from_native(pl.LazyFrame({"a": [1, 2], "b": [1, 1]}))
    assert (in_words([plan], ["a", "b"]).columns, in_words([plan], ["a", "b"]).read) == (["a", "b"], {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_words, "on_spark", lambda _: True)
        assert in_words([plan], ["a"]).columns == ["a"]
        assert len(in_words([plan], ["a", "b"]).words) == 1


# Rows as words here, counted together and by file as plain grouping does.


KINDS = {"a": pl.Int64, "b": pl.Boolean, "c": pl.UInt8}
ROW = st.fixed_dictionaries(
    {
        "a": st.one_of(st.none(), st.integers(-3, 300)), "b": st.one_of(st.none(), st.booleans()),
        "c": st.one_of(st.none(), st.integers(0, 3)),
    }
)  # fmt: skip
DRAWN = st.integers(2, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(ROW, min_size=n, max_size=n), min_size=2, max_size=3),
        st.lists(st.integers(-5, 10**9), min_size=n, max_size=n, unique=True),
        st.permutations(range(n)),
    )
)


@pytest.fixture
def _local_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plans of Polars, taken for those of a local Spark."""
    monkeypatch.setattr(spark_words, "on_spark", lambda _: True)
    monkeypatch.setattr(spark_words, "is_far", lambda _: False)


def plans_of(files: list[pl.DataFrame]) -> list[Any]:
    return [nw.from_native(file.lazy()) for file in files]


def read(files: list[pl.DataFrame], columns: list[str] | None = None) -> WordsHere | None:
    return read_words(plans_of(files), columns or list(KINDS), "id", [len(file) for file in files])


def counted(frames: list[Any], times: Any) -> Counter[tuple[Any, ...]]:
    rows = zip(*(frame.rows() for frame in frames), strict=True)
    return Counter(dict(zip(rows, times.tolist(), strict=True)))


@pytest.mark.usefixtures("_local_spark")
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DRAWN, st.sampled_from([["a", "b", "c"], ["c", "a"], ["b"]]), st.booleans())
def test_cells_are_those_of_the_rows(drawn: Any, columns: list[str], packed: bool) -> None:
    """Rows with one id are counted together in whatever order the files are; each file by itself as well.

    `packed`: whether the engine makes the words, as it does of files that are too large to come as they are.
    """
    rows, ids, order = drawn
    rows[0][0] = {"a": 300, "b": True, "c": 3}  # a column without any value has no place in a word
    files = [pl.DataFrame(own, schema=KINDS).with_columns(id=pl.Series(ids)) for own in rows]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_words, "MOST_BYTES", 0 if packed else spark_words.MOST_BYTES)
        words = read([files[0], *(file[list(order)] for file in files[1:])])
    assert words is not None
    assert words.has(columns)
    plan = plans_of(files)[0]
    chosen = [file.select(columns).rows() for file in files]
    assert counted(*words.together(columns, plan, None)) == Counter(zip(*chosen, strict=True))
    for at, own in enumerate(chosen):
        frame, times = words.alone(at, columns, plan, None)
        assert frame.columns == columns
        assert counted([frame], times) == Counter((row,) for row in own)


SMALL = pl.DataFrame({"id": [3, 1, 2], "a": [1, 2, 2], "b": [True, None, False], "c": [0, 0, 3]})


@pytest.mark.usefixtures("_local_spark")
@pytest.mark.parametrize(
    "other",
    [
        SMALL.with_columns(id=pl.Series([3, 1, 1])), SMALL.with_columns(id=pl.Series([3, 1, None])),
        SMALL.with_columns(id=pl.Series([3, 1, 4])), SMALL.with_columns(id=pl.Series(["3", "1", "2"])), SMALL[:2],
        SMALL.with_columns(c=pl.Series(["0", "0", "3"])), SMALL.with_columns(c=pl.Series([0.0, 0.5, 3.0])),
        SMALL.with_columns(a=pl.Series([0, 1, 2**50]), c=pl.Series([0, 1, 2**50])),
        SMALL.with_columns(b=pl.Series([1, None, 0])), SMALL.with_columns(c=pl.Series([0, 0, 2**60])),
    ],
    ids=["repeated", "missing", "another", "text", "fewer rows", "of text", "of numbers", "two words", "true or 1",
         "too large"],
)  # fmt: skip
def test_other_files_are_joined_by_the_engine(other: pl.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an id does not name each row once in every file, or a word has no room for the columns."""
    for most in (spark_words.MOST_BYTES, 0):
        monkeypatch.setattr(spark_words, "MOST_BYTES", most)
        assert read([SMALL, SMALL]) is not None
        assert read([SMALL, other]) is None


@pytest.mark.usefixtures("_local_spark")
def test_more_cells_than_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By number, of the columns that are asked for; fewer columns of the same words may fit."""
    words = read([SMALL, SMALL])
    assert words is not None
    room = 2 * count_cells.bytes_of_cells(1, 2)
    monkeypatch.setattr(count_cells, "_room_within", lambda *_: room)
    plan = plans_of([SMALL])[0]
    with pytest.raises(TooManyCellsError, match="6 columns have 3 different combinations"):
        words.together(["a", "b", "c"], plan, Beside())
    assert words.alone(0, ["a"], plan, Beside(2))[1].tolist() == [1, 2]


@pytest.mark.usefixtures("_local_spark")
def test_files_that_do_not_fit_are_not_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the words of all rows would take more than is left, nor above what Spark hands out at once."""
    monkeypatch.setattr(spark_words, "bytes_here", lambda _: 2 * 3 * spark_words.BYTES - 1)
    assert read([SMALL, SMALL]) is None
    monkeypatch.setattr(spark_words, "bytes_here", lambda _: 2 * 3 * spark_words.BYTES)
    assert read([SMALL, SMALL]) is not None
    monkeypatch.setattr(spark_words, "MOST_ROWS", 2)
    assert read([SMALL, SMALL]) is None
