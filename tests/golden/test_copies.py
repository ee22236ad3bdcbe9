"""Copies of single records, beside the counts of Polars' queries (1.x) on the demo survey: group_by and semi joins."""

from __future__ import annotations

import polars as pl
import pytest

import sdckit as sdc
from sdckit import copied_records

DEMO = sdc.load_demo()
SURVEY, ASIDE = DEMO[::2], DEMO[1::2]


def by_query(original: pl.DataFrame, other: pl.DataFrame, columns: list[str]) -> tuple[int, int]:
    """How many other records equal an original alone with its values, and how many combinations two originals have."""
    times = original.group_by(columns).len()
    alone = times.filter(pl.col("len") == 1)
    return other.join(alone, on=columns, how="semi").height, times.filter(pl.col("len") == 2).height


def test_other_people_of_the_survey():
    result = copied_records(SURVEY, ASIDE)
    copies, twice = by_query(SURVEY, ASIDE, SURVEY.columns)
    assert (copies, twice) == (588, 268)
    assert (result.copies, result.copies_by_chance) == pytest.approx((588 / 3183, 2 * 268 / 3183))
    assert result.left_out == ("affairs",)
    copies, twice = by_query(SURVEY, ASIDE, SURVEY.columns[:-1])
    assert (result.near_copies, result.near_copies_by_chance) == pytest.approx((copies / 3183, 2 * twice / 3183))


def test_a_release_of_which_every_third_record_is_a_copy():
    release = pl.concat([SURVEY[::3], ASIDE[: 3183 - SURVEY[::3].height]])
    result = copied_records(SURVEY, release, control=ASIDE)
    assert result.copies == by_query(SURVEY, release, SURVEY.columns)[0] / 3183
    assert result.copies_by_chance == 588 / 3183
    assert 0.05 < result.copied_records < result.copies_beyond < 1 / 3
