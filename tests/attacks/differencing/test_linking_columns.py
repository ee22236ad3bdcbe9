"""Two waves whose numbers moved: linked through `differencing` and judged; what parts them; where nobody looked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from attacks.differencing.test_near_values import next_wave, people
from sdckit.attacks.differencing import release_ledger
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.workflow.verdicts import judge_differencing, judge_linked


def waves(seed: int, n: int = 1500) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Two waves of the same people, whose `person` stays in the office."""
    rng = np.random.default_rng(seed)
    wave = people(rng, n)
    later, who = next_wave(rng, wave, 0.03)
    first = pl.DataFrame(wave).with_columns(pl.col("sex", "region", "school", "month").cast(pl.Int64))
    second = pl.DataFrame(later).with_columns(pl.col("sex", "region", "school", "month").cast(pl.Int64))
    return first.with_columns(person=pl.int_range(n)), second.with_columns(person=pl.Series(who))


def test_who_is_linked_by_near_numbers_is_judged_by_the_keys_of_both() -> None:
    first, second = waves(1)
    hidden = pl.int_range(pl.len()) < 75
    second = second.with_columns(school=pl.when(~hidden).then("school"))
    keys = {"keys": ["sex", "region"], "earlier_keys": ["school", "age"]}
    released = [wave.drop("person") for wave in (first, second)]
    found = sdc.differencing(released[1], earlier={"first": released[0]}, sensitive=["school"], **keys)
    (entry,) = found.entries
    assert entry.searched
    assert not found.singly
    assert entry.right is not None
    assert entry.right > 0.9
    assert entry.linked == found.linked > 1000
    near = entry.together.removeprefix(" together (").removesuffix(" by near values)").split(", ")
    assert {*near} <= {"age", "income", "hours", "spent"} & {*entry.linked_by}
    (k,) = judge_linked(Thresholds(k=30), "", found)
    assert k.word == "exceeded"
    assert f"first (linked by {entry.linked_words})" in k.sentence
    assert "by near values): make some of them coarser, or leave some out" in k.sentence
    assert found.given_back > 40
    assert judge_differencing(0.0, "", found, {}).word == "exceeded"
    joined = second.select("person", "sex", "region").join(first.select("person", "school", "age"), on="person")
    of_all = joined.select(pl.len().over(["sex", "region", "school", "age"])).to_series().to_numpy()
    assert found.joint is not None
    reached = found.joint.frequency[found.joint.linked] >= of_all[found.joint.linked]
    assert reached.mean() > 0.9  # groups are no smaller than those of an intruder who knows who is who
    few = released[1].drop("income", "spent", "hours")  # as the remedy says
    assert sdc.differencing(few, earlier=released[0], **keys).linked < 0.4 * found.linked


def test_an_id_checks_the_links_and_other_people_have_none() -> None:
    first, second = waves(2)
    scenario = sdc.Scenario(keys=["sex", "age"], identifiers=["person"])
    known = sdc.differencing(second, earlier=first, scenario=scenario, id="person")
    assert known.entries[0].right is not None
    assert known.entries[0].right > 0.9
    assert known.linked > 1000
    others, _ = waves(3)
    found = sdc.differencing(others.drop("person"), earlier=first.drop("person"), keys=["sex", "region"])
    assert (found.linked, found.linked_by, found.singly, found.entries[0].searched) == (0, {}, False, True)


@pytest.mark.parametrize("way", ["noise", "swapped"])
def test_noise_and_swapped_values_part_only_as_many_as_they_move_far(way: str) -> None:
    """The estimate stays right where a protected release is held against the one before it."""
    first, second = waves(4)
    numbers = ["income", "spent"]
    if way == "noise":
        made = sdc.add_noise(second, columns=numbers, noise=10, seed=1).data
    else:
        made = sdc.rank_swap(second, columns=numbers, p=2, seed=1).data
    found = sdc.differencing(made.drop("person"), earlier=first.drop("person"), keys=["sex"])
    exact = sdc.Scenario(keys=["sex", "region", "school", "age"], identifiers=["person"])
    checked = sdc.differencing(made, earlier=first, id="person", scenario=exact)  # 1,488 combinations
    assert found.linked > 700
    assert found.entries[0].right is not None
    assert checked.entries[0].right is not None
    assert abs(found.entries[0].right - checked.entries[0].right) < 0.1


def test_where_the_file_is_not_at_hand_near_numbers_were_not_tried_and_it_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two numbers of many values are enough, also where all columns together tell nobody apart."""
    rng = np.random.default_rng(5)
    first = pl.DataFrame({"sex": rng.integers(0, 2, 3000), "age": rng.integers(0, 20, 3000)})
    second = first.with_columns(hours=pl.Series(rng.integers(0, 15, 3000)))
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Survey")
    ledger = ledger.add(second, name="first", keys=["sex"])
    assert not sdc.differencing(first, ledger=ledger, keys=["sex"]).singly
    found = sdc.differencing(second, ledger=ledger, keys=["sex"])
    assert found.singly
    assert "by numbers that lie near" in found.notes["linked"]
    verdict = judge_differencing(0.0, "", found, {})
    assert verdict.word == "not judged"
    assert "numbers that lie near" in verdict.sentence
    for known in ({"earlier": second}, {"ledger": ledger.beside({"first": second})}):
        beside = sdc.differencing(second, keys=["sex"], **known)
        assert (beside.singly, beside.entries[0].searched) == (False, True)
        assert judge_differencing(1.0, "", beside, {}).word == "holds"
    monkeypatch.setattr(release_ledger, "MOST_SEARCHED", 17_000)  # all three columns of 6,000 people are more
    assert sdc.differencing(second, earlier=second.select("sex", "age", "hours"), keys=["sex"]).singly


def test_a_ledger_that_links_some_people_leaves_the_rest_open(tmp_path: Path) -> None:
    """Some are alone with keys and sensitive variables; numbers that lie near lead to nearly all of the others."""
    rng = np.random.default_rng(1)
    first = pl.DataFrame(
        {name: rng.integers(0, n, 2000) for name, n in (("sex", 2), ("region", 10), ("job", 20), ("educ", 8))}
    ).with_columns(hours=pl.Series(rng.integers(0, 60, 2000)), income=np.exp(rng.normal(7, 0.7, 2000)).round())
    moved = np.exp(rng.normal(0, 0.04, 2000))
    second = first.with_columns(income=(pl.col("income") * moved).round()).sample(fraction=1.0, shuffle=True, seed=2)
    asked = {"keys": ["sex", "region", "educ"], "sensitive": ["job"]}
    ledger = sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "key", survey="Survey")
    ledger = ledger.add(first, name="first", **asked)
    found = sdc.differencing(second, ledger=ledger, **asked)
    assert 200 < found.linked < 1500
    assert (found.singly, judge_differencing(1.0, "", found, {}).word) == (True, "not judged")
    found = sdc.differencing(second, ledger=ledger.beside({"first": first}), **asked)
    assert found.linked > 1800
    assert (found.singly, judge_differencing(1.0, "", found, {}).word) == (False, "holds")
