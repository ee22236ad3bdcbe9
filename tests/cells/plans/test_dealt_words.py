"""Records dealt out as words: what releases changed is known where an id names each row, else rows are joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from cells import test_parted_pair
from cells.test_parted_pair import KEYS, MEASURES, files
from engines.comparing import assert_same_figures, quiet
from sdckit.cells.pair import Pair, open_files
from sdckit.cells.parted_pair import PartedPair, deal_out
from sdckit.cells.plans import dealt_words

opened = test_parted_pair.opened
NAMES = (*KEYS, "ill", "job")


def dealt(pair: Pair) -> PartedPair:
    return deal_out(pair, NAMES, tuple(KEYS))


def test_what_was_changed_is_counted(opened: Callable[..., Pair]) -> None:
    original, releases = files(2)
    there = dealt(opened(original, releases))
    assert there.dealt is not None
    assert there.dealt.n_changed is not None
    for release, changed in zip(releases, there.dealt.n_changed.tolist(), strict=True):
        both = original.join(release.with_columns(pl.col("age").fill_nan(None)), on="id")
        assert changed == [both.select(pl.col(k).ne_missing(pl.col(f"{k}_right")).sum()).item() for k in NAMES]


@pytest.mark.parametrize("kind", ["text", "far apart", "a row twice", "another row"])
def test_other_ids_are_joined_by_the_engine(kind: str, opened: Callable[..., Pair]) -> None:
    """The figures are the same ones; an id that does not name each row once is refused as ever."""
    original, (release,) = files()
    if kind == "text":
        original, release = (frame.with_columns(pl.col("id").cast(pl.String)) for frame in (original, release))
    elif kind == "far apart":
        original, release = (frame.with_columns(pl.col("id") * 10**6) for frame in (original, release))
    else:
        wrong = 10**3 if kind == "a row twice" else 10**4
        release = release.with_columns(pl.when(pl.col("id") == 7).then(wrong).otherwise(pl.col("id")).alias("id"))
    there = opened(original, [release])
    assert dealt(there).dealt.n_changed is None  # type: ignore[union-attr]
    assert_same_figures(
        quiet(MEASURES["identity_disclosure"], open_files(original, release)).to_dict()["figures"],
        quiet(MEASURES["identity_disclosure"], there).to_dict()["figures"],
    )
    if kind in {"text", "far apart"}:
        expected = quiet(MEASURES["matching_risk"], open_files(original, release, id="id"))
        found: Any = quiet(MEASURES["matching_risk"], there)
        assert_same_figures(expected.to_dict()["figures"], found.to_dict()["figures"])
    else:
        with pytest.raises(sdc.DataError, match="names each row once"):
            quiet(MEASURES["matching_risk"], there)


def test_columns_that_no_word_holds_are_grouped_by_the_engine(
    opened: Callable[..., Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    original, releases = files()
    expected = quiet(MEASURES["attribute_disclosure"], open_files(original, releases)).to_dict()["figures"]
    monkeypatch.setattr(dealt_words, "MOST_BITS", 8)
    found = quiet(MEASURES["attribute_disclosure"], opened(original, releases))
    assert isinstance(found.pair, PartedPair)
    assert found.pair.dealt is None
    assert_same_figures(expected, found.to_dict()["figures"])


def test_numbers_with_gaps_and_missing_columns_have_their_levels(opened: Callable[..., Pair]) -> None:
    original, (release,) = files()
    gaps = [frame.with_columns(pl.col("job") * 700 - 3, age=pl.lit(None, pl.Int16)) for frame in (original, release)]
    here, there = open_files(*gaps), opened(gaps[0], [gaps[1]])
    keys = ["age", "region", "size", "job"]
    for measure in (sdc.replicated_uniques, lambda pair, keys: sdc.attribute_disclosure(pair, keys=keys, target="ill")):
        expected, found = quiet(measure, here, keys=keys), quiet(measure, there, keys=keys)
        assert_same_figures(expected.to_dict()["figures"], found.to_dict()["figures"])
    assert found.pair.codes("job").labels() == here.codes("job").labels()
    assert np.array_equal(found.pair.codes("job").counts, here.codes("job").counts)
