"""A limit that is just reached holds, and the least beyond it does not: every threshold, on real files."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.workflow.verdicts import ON_ATTACKS, Verdict, judge_attacks

# Groups of 4, 2 and 2 with the same keys; in each, two different answers; households of two.
FILE = pl.DataFrame(
    {
        "sex": ["f"] * 4 + ["m", "m", "x", "x"],
        "ill": ["a", "a", "b", "b", "a", "b", "a", "b"],
        "home": [1, 1, 2, 2, 3, 3, 4, 4],
    }
)
RNG = np.random.default_rng(3)
PEOPLE = pl.DataFrame(
    {"age": RNG.integers(0, 40, 60), "sex": RNG.choice(["f", "m"], 60), "ill": RNG.choice(["a", "b"], 60)}
)
CHANGED = PEOPLE.with_columns(age=pl.when(pl.int_range(60) < 20).then(7).otherwise("age"))
PLACE = RNG.integers(0, 8, 400)
TOLD = pl.DataFrame(
    {"place": [f"p{one}" for one in PLACE], "weight": PLACE * 10 + 5.5, "sex": RNG.choice(["f", "m"], 400)}
)
# Two in three of the places taken out are told by the weight: the others have lost it, too.
GIVEN_BACK = TOLD.with_columns(
    place=pl.when(pl.int_range(400) < 30).then(None).otherwise("place"),
    weight=pl.when(pl.int_range(400) < 10).then(pl.lit(1.25)).otherwise("weight"),
)


def verdicts(**limits: float) -> list[Verdict]:
    """What is said of the census."""
    scenario = sdc.Scenario(keys=["sex"], sensitive=["ill"], household="home", thresholds=limits)
    with quiet():
        return list(sdc.assess(FILE, scenario=scenario).verdicts)


def of_release(**limits: float) -> list[Verdict]:
    """What is said of a release in which a third of the ages was changed."""
    scenario = sdc.Scenario(keys=["age", "sex"], sensitive=["ill"], aligned=True, thresholds=limits)
    with quiet():
        return list(sdc.assess(PEOPLE, CHANGED, scenario=scenario, seed=1).verdicts)


def of_copies(**limits: float) -> list[Verdict]:
    """What is said of a release half of which are copies."""
    scenario = sdc.Scenario(keys=["age", "sex"], thresholds=limits)
    whole = pl.DataFrame({"age": range(400), "sex": ["f", "m"] * 200})
    half = whole.with_columns(pl.when(pl.col("age") < 200).then("age").otherwise(0).alias("age"))
    with quiet():
        return list(sdc.assess(whole, half, scenario=scenario, seed=1).verdicts)


def undone(**limits: float) -> list[Verdict]:
    """What is said of a release whose weights tell places."""
    keys = ["place", "sex"]
    scenario = sdc.Scenario(keys=keys, weight="weight", aligned=True, thresholds=limits)
    with quiet():
        return list(sdc.assess(TOLD, GIVEN_BACK, scenario=scenario, seed=1).verdicts)


def beside_earlier(**limits: float) -> list[Verdict]:
    """What is said of a file that shows the ages of 20 people which an earlier release hid."""
    keys = ["row", "age", "sex"]
    whole = PEOPLE.with_row_index("row")
    before = whole.with_columns(age=pl.when(pl.int_range(60) < 20).then(None).otherwise("age"))
    with tempfile.TemporaryDirectory() as folder, quiet():
        place = {"folder": f"{folder}/ledger", "key": f"{folder}/ledger.key"}
        sdc.ReleaseLedger.create(**place, survey="Survey").add(before, name="first", keys=keys)
        scenario = sdc.Scenario(keys=keys, thresholds=limits, ledger=place)
        return list(sdc.assess(whole, scenario=scenario).verdicts)


def beside_tables(**limits: float) -> list[Verdict]:
    """What is said of a release beside a table that tells most of the places taken out."""
    tables = [{"variables": ["place", "weight"]}]
    scenario = sdc.Scenario(keys=["place", "sex"], aligned=True, thresholds=limits, tables=tables)
    safe = GIVEN_BACK.with_columns(weight=pl.when(pl.int_range(400) < 10).then(None).otherwise(TOLD["weight"]))
    with quiet():
        return list(sdc.assess(TOLD, safe, scenario=scenario, seed=1).verdicts)


def large(**limits: float) -> list[Verdict]:
    """What is said of a file in which one of 60 earns most, and the second but a tenth of it."""
    file = pl.DataFrame({"sex": ["f"] * 60, "pay": [1000.0, 100, *range(1, 59)]})
    scenario = sdc.Scenario(keys=["sex"], magnitudes=["pay"], thresholds=limits)
    with quiet():
        return list(sdc.assess(file, scenario=scenario).verdicts)


def contradicting(**limits: float) -> list[Verdict]:
    """What is said of a release a quarter of which breaks a rule that the original keeps."""
    whole = pl.DataFrame({"age": range(400), "sex": ["f", "m"] * 200})
    swapped = whole.with_columns(sex=pl.when(pl.col("age") < 200).then(pl.lit("m")).otherwise("sex"))
    rules = {"age": {"when": {"sex": "m"}, "value": [*range(1, 400, 2)]}}
    scenario = sdc.Scenario(keys=["age", "sex"], aligned=True, thresholds=limits, rules=rules)
    with quiet():
        return list(sdc.assess(whole, swapped, scenario=scenario, seed=1).verdicts)


def followed(**limits: float) -> list[Verdict]:
    """What is said of three people of two rows, of whom the last is alone with both together, and with each."""
    file = pl.DataFrame({"who": [1, 1, 2, 2, 3, 3], "year": [1, 2] * 3, "job": ["a", "a", "a", "b", "b", "b"]})
    scenario = sdc.Scenario(keys=["job"], person="who", time="year", thresholds=limits)
    with quiet():
        return list(sdc.assess(file, scenario=scenario).verdicts)


@dataclass(frozen=True)
class Attack:
    """An attack with a residual risk."""

    per_release: tuple[dict[str, float], ...]
    notes: dict[str, str] = field(default_factory=dict)
    control_state: str = "apart"


def attacked(**limits: float) -> list[Verdict]:
    made = {"membership": Attack(({"risk": 0.125},))}
    return list(judge_attacks(limits["residual_risk"], "a", made, intruders=("a",), failed=(), control=500))


def told(**limits: float) -> list[Verdict]:
    """Half as many members are told as by guessing."""
    (kind,) = (one for one in ON_ATTACKS if one.name in limits)
    made = {"membership": Attack(({"risk": 0.125, kind.figure: 0.5},))}
    return list(judge_attacks(limits[kind.name], "a", made, intruders=("a",), failed=(), control=500, kind=kind))


Judge = Callable[..., list[Verdict]]
SHARES: Mapping[str, Judge] = {
    "global_risk": verdicts,
    "household_uniques": verdicts,
    "match_risk": of_release,
    "few_matches": of_release,
    "replicated_uniques": of_release,
    "copied_records": of_copies,
    "correctly_disclosed": of_release,
    "residual_risk": attacked,
    "membership_tpr": told,
    "recoverable": undone,
    "differencing": beside_earlier,
    "joint_recoverable": beside_tables,
    "exact_numbers": large,
    "broken_rules": contradicting,
    "known_points": lambda **limits: followed(known_points={"points": 1, "alone": limits["known_points"]}),
}


def only(found: list[Verdict], name: str) -> Verdict:
    (one,) = [verdict for verdict in found if verdict.name == name]
    return one


@pytest.mark.parametrize("name", SHARES)
def test_a_share_that_is_its_limit_holds(name: str) -> None:
    judged = SHARES[name]
    value = only(judged(**{name: 0.9}), name).value
    assert value is not None
    assert 0 < value < 1
    at = only(judged(**{name: value}), name)
    assert (at.holds, at.word) == (True, "holds")
    below = only(judged(**{name: math.nextafter(value, 0.0)}), name)
    assert (below.holds, below.word) == (False, "exceeded")


@pytest.mark.parametrize(
    ("threshold", "at", "beyond", "n"),
    [
        ("k", 2, 3, 4),
        ("l", 2, 3, 8),
        ("risk", 0.5, math.nextafter(0.5, 0), 4),
        ("household_risk", 0.75, math.nextafter(0.75, 0), 4),
    ],
)
def test_records_at_the_limit_are_not_beyond_it(threshold: str, at: float, beyond: float, n: int) -> None:
    """Groups of 4, 2, 2: risks of a quarter and a half; of two in a household one is found with 1 - (1/2)² = 3/4."""
    holds = only(verdicts(**{threshold: at}), threshold)
    assert (holds.holds, holds.n_records) == (True, 0)
    exceeded = only(verdicts(**{threshold: beyond}), threshold)
    assert (exceeded.holds, exceeded.n_records) == (False, n)


def test_what_is_put_back_is_judged_at_the_limit_too() -> None:
    found = undone(k=2, risk=0.9, recoverable=1.0)
    assert only(found, "k_undone").holds
    with quiet():
        put_back = sdc.recoverable_values(
            GIVEN_BACK, TOLD, keys=["place", "sex"], weight="weight", k=range(2, 40), guess=False
        )
    (below,) = put_back.below_k
    smallest = max(k for k, n in below.items() if n == 0)
    assert below[smallest + 1] > 0
    assert only(undone(k=smallest), "k_undone").holds
    beyond = only(undone(k=smallest + 1), "k_undone")
    assert (beyond.holds, beyond.n_records) == (False, below[smallest + 1])


def test_every_threshold_is_tried_at_its_limit() -> None:
    """A new one fails here until it is."""
    assert set(Thresholds.model_fields) == {*SHARES, "k", "l", "risk", "household_risk"}


def test_the_gate_passes_at_every_limit() -> None:
    limits = {"k": 2, "l": 2, "risk": 0.5, "household_risk": 0.75, "global_risk": 3 / 8}
    with quiet():
        scenario = sdc.Scenario(keys=["sex"], sensitive=["ill"], household="home", thresholds=limits)
        assert sdc.check(FILE, scenario=scenario).passed
        for name, limit in limits.items():
            step = 1 if name in {"k", "l"} else math.nextafter(limit, 0) - limit
            narrow = sdc.Scenario(
                keys=["sex"], sensitive=["ill"], household="home", thresholds={**limits, name: limit + step}
            )
            found = sdc.check(FILE, scenario=narrow)
            assert [one.name for one in found.exceeded] == [name]
