"""The way from keys to coarser keys: what comes first, what comes after it, and where it ends."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.workflow.recipes.starter_keys import coarsen_keys, over_limits, wanted_k


def survey(n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "pay": rng.normal(2500, 500, n).round(1),
            "sex": rng.choice(["f", "m"], n),
            "job": rng.choice(["cook", "vet", "clerk"], n),
        }
    )


def scenario(**entries: object) -> sdc.Scenario:
    return sdc.Scenario(**{"keys": ["age", "sex"], "thresholds": {"k": 3}, **entries})


@pytest.mark.parametrize(
    ("entries", "k"),
    [
        ({"thresholds": {"k": 3}}, 3),
        ({"thresholds": {"risk": 0.2}}, 5),
        ({"thresholds": {"k": 7, "risk": 0.2}}, 7),
        ({"thresholds": {"risk": 0.3}}, 4),
        ({"thresholds": {"risk": 1.0}}, 2),
        ({"thresholds": {"risk": 0.2}, "sampling_fraction": 0.1}, None),
        ({"thresholds": {"k": 3, "risk": 0.2}, "weight": "w"}, 3),
        ({"thresholds": {}, "release": "public-use"}, 20),
    ],
)
def test_the_k_that_is_needed(entries: dict[str, object], k: int | None) -> None:
    assert wanted_k(scenario(**entries)) == k


def test_records_over_a_limit_are_those_of_the_measures() -> None:
    data = survey()
    both = scenario(
        intruders={"a": ["age", "sex"], "b": ["pay"]}, keys=None, thresholds={"k": 3, "risk": 0.004},
        sampling_fraction=0.01,
    )  # fmt: skip
    below = sdc.k_anonymity(data, keys=["age", "sex"], k=[3]).violations[3]
    above = sdc.individual_risk(data, keys=["pay"], sampling_fraction=0.01, threshold=0.004).n_above
    alone = sdc.k_anonymity(data, keys=["pay"], k=[3]).violations[3]
    risky = sdc.individual_risk(data, keys=["age", "sex"], sampling_fraction=0.01, threshold=0.004).n_above
    assert risky is not None
    assert above is not None
    assert over_limits(data, both) == {"a": max(below, risky), "b": max(alone, above)}


def test_a_mean_risk_has_to_hold_whatever_is_left_to_suppression() -> None:
    data = survey()
    assert sdc.individual_risk(data, keys=["age", "sex"]).global_risk > 0.1
    way = coarsen_keys(data, scenario(thresholds={"global_risk": 0.1}), share=1.0, internal=False)
    assert way.done[0].before["default"].expected > 0
    assert way.over["default"].expected == 0
    assert sdc.individual_risk(way.data, keys=["age", "sex"]).global_risk <= 0.1


def test_bands_become_wider_until_few_are_left_over() -> None:
    way = coarsen_keys(survey(), scenario(thresholds={"k": 20}), share=0.05, internal=False)
    assert [one.key for one in way.done] == ["age"] * len(way.done)
    assert len(way.done) > 1
    assert way.over["default"].records <= 30 < way.done[-1].before["default"].records
    edges = [one.step["bands"][1:-1] for one in way.done]
    assert all(set(after) < set(before) for before, after in pairwise(edges))
    recoded = sdc.recode(survey(), column="age", bands=way.steps["age"]["bands"]).data
    assert way.data["age"].to_list() == recoded["age"].to_list()


def test_the_step_that_brings_most_per_bit_comes_first() -> None:
    data, one = survey(), scenario(keys=["age", "pay", "sex"])
    way = coarsen_keys(data, one, share=0.0, internal=False)
    gains = {}
    for name in ("age", "pay"):
        found = sdc.key_contributions(data, scenario=one).coarsenings[name]
        gains[name] = (600 - found.violations_without[3]) / found.entropy_lost
    assert way.done[0].key == max(gains, key=gains.__getitem__)


def test_nothing_is_coarsened_within_the_share_or_without_a_step() -> None:
    assert not coarsen_keys(survey(), scenario(), share=1.0, internal=False).done
    way = coarsen_keys(survey(), scenario(keys=["job", "sex"]), share=0.0, internal=False)
    assert not way.done
    assert way.unstepped == {"job": "codes"}


def test_values_are_named_only_inside() -> None:
    data = survey().with_columns(job=pl.when(pl.int_range(600) < 2).then(pl.lit("smith")).otherwise("job"))
    one = scenario(keys=["job", "sex"])
    assert not coarsen_keys(data, one, share=0.0, internal=False).steps
    assert "smith" in str(coarsen_keys(data, one, share=0.0, internal=True).steps["job"])


def test_a_hierarchy_is_climbed(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    codes = [f"{a}{b}{c}" for a in "12" for b in "123" for c in "1234"]
    rows = ["code,wide,widest", *(f"{code},{code[:2]},{code[0]}" for code in codes)]
    (tmp_path / "h.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "s.toml").write_text(
        'keys = ["place"]\n[hierarchies]\nplace = "h.csv"\n[thresholds]\nk = 40\n', encoding="utf-8"
    )
    data = pl.DataFrame({"place": rng.choice([f"{code}" for code in codes], 200)})
    way = coarsen_keys(data, sdc.Scenario.from_toml(tmp_path / "s.toml"), share=0.0, internal=False)
    assert [one.step["level"] for one in way.done] == [2]  # at level 1 nobody would reach 40
    assert sorted(set(way.data["place"])) == ["1", "2"]
