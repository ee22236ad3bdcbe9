"""Special uniques in a document: what is exact inside, what is printed outside."""

from __future__ import annotations

import json
from typing import Any

import pytest

from report.special import EXTRA, assessed, printed
from sdckit.report.blocks import TableBlock
from sdckit.report.views.suda import VIEW


@pytest.fixture(scope="module")
def assessment() -> Any:
    return assessed()


@pytest.fixture(scope="module")
def exact(assessment: Any) -> dict[str, Any]:
    return printed(assessment, internal=True)


@pytest.fixture(scope="module")
def plain(assessment: Any) -> dict[str, Any]:
    return printed(assessment)


def test_inside_the_figures_are_those_of_the_session(assessment: Any, exact: dict[str, Any]) -> None:
    one = assessment.intruders[0]
    sizes = {size: leaf["value"] for size, leaf in exact["suda"]["msu_counts"].items()}
    assert sizes == {str(size): n for size, n in one["suda"].msu_counts.items()}
    assert exact["suda"]["pairs"]["value"] == one["suda"].pairs
    assert exact["suda"]["dis"]["value"] == pytest.approx(one["suda"].dis, rel=0.05)
    parts = {key: leaf["value"] for key, leaf in exact["suda"]["contributions"].items()}
    assert parts == one["suda"].contributions


def test_levels_are_named_inside_only(exact: dict[str, Any], plain: dict[str, Any]) -> None:
    assert "Islands" in exact["suda"]["level_contributions"]["region"]
    assert "level_contributions" not in plain["suda"]
    for name in EXTRA:
        assert "Islands" not in json.dumps(plain[name])


def test_every_count_is_rounded(plain: dict[str, Any]) -> None:
    for leaf in [*plain["suda"]["msu_counts"].values(), plain["suda"]["pairs"]]:
        assert leaf["value"] is None or leaf["value"] % 5 == 0, leaf


def test_parts_are_in_whole_per_cent(plain: dict[str, Any]) -> None:
    for leaf in plain["suda"]["contributions"].values():
        assert round(100 * leaf["value"]) == pytest.approx(100 * leaf["value"])


def test_dis_follows_from_the_printed_counts(plain: dict[str, Any]) -> None:
    tree = plain["suda"]
    hits, misses = 0.05 * tree["sample_uniques"]["value"], 0.95 * tree["pairs"]["value"]
    assert tree["dis"]["value"] == pytest.approx(hits / (hits + misses), rel=0.05)


def test_few_uniques_withhold_what_is_estimated_from_them() -> None:
    one = printed(assessed(keys=["sex", "age", "region"]))
    assert one["suda"]["sample_uniques"]["value"] is None or one["suda"]["sample_uniques"]["value"] < 50
    if one["suda"]["sample_uniques"]["text"] != "0":
        for found in one["population_uniques"]["estimates"].values():
            assert found["uniques"]["text"] == "withheld"
        assert {leaf["text"] for leaf in one["suda"]["contributions"].values()} == {"withheld"}


def test_levels_and_pairs_are_shown_inside_only(plain: dict[str, Any], exact: dict[str, Any]) -> None:
    captions = [
        [block.caption for block in VIEW.blocks(one, "suda") if isinstance(block, TableBlock)] for one in (plain, exact)
    ]
    assert "Part of the levels of region" in captions[1]
    assert not any("levels of" in caption for caption in captions[0])
    assert "Records in pairs" in str(VIEW.blocks(exact, "suda"))
    assert "Records in pairs" not in str(VIEW.blocks(plain, "suda"))


def test_weights_do_not_give_their_sum(plain: dict[str, Any]) -> None:
    assert plain["suda"]["sampling_fraction"] == 0.05
    one = printed(assessed(sampling_fraction=None, weight="weight", numeric=[]))
    assert one["suda"]["sampling_fraction"] is None
    assert one["population_risk"]["sampling_fraction"] is None
    assert len(one["population_uniques"]["population"]["text"].replace(",", "").strip("0")) <= 2
