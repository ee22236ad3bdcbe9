"""Whole numbers in words: what is read of a record gives its columns back. On Spark itself: engines/test_spark.py."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from sdckit.cells.plans import spark_words
from sdckit.cells.plans.spark_words import in_words

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
