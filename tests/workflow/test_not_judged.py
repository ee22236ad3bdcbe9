"""No limit holds in a file in which it could not look: every limit of the rows, in every such file."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.data.limits import LimitKind, declarable
from sdckit.data.scenarios.thresholds import RELEASE_TYPES
from sdckit.errors import SdcError
from sdckit.workflow.check import CheckResult
from sdckit.workflow.verdicts import Verdict

N = 240
RNG = np.random.default_rng(36)
FILE = pl.DataFrame(
    {
        "age": RNG.permutation(N) % 8 + 20,  # no heap at an end, which looks like a coded top
        "sex": RNG.choice(["f", "m"], N),
        "ill": RNG.choice(["a", "b", "c"], N),
        "pay": np.round(RNG.lognormal(7, 1, N)),
        "home": np.arange(N) // 4,
        "who": np.arange(N) // 2,
    }
)
KEYS = ["age", "sex"]
BARE = FILE.select(KEYS)
ASIDE = FILE.with_columns(pl.col("age", "ill").shuffle(seed=1), pl.col("pay") + 1)
ROLES: Mapping[str, Any] = {"sensitive": ["ill"], "magnitudes": ["pay"], "household": "home"}
TABLES = [{"variables": ["age", "ill"]}]
HIDDEN = FILE.with_columns(age=pl.when(pl.int_range(N) >= 30).then("age"))
EMPTY = FILE.with_columns(pl.lit(None).cast(FILE.schema[name]).alias(name) for name in ("ill", "pay", "home"))
# What is looked at in any file that has keys, and in any file beside its original.
OF_KEYS = {"k", "risk", "global_risk"}
OF_PAIR = {"replicated_uniques", "copied_records"}
OF_ROLES = {"l", "household_risk", "household_uniques", "exact_numbers"}


@dataclass(frozen=True)
class Given:
    """Files and what is said of them; `looked_at` are the limits about something that is there."""

    files: tuple[Any, ...]
    looked_at: set[str]
    roles: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)


GIVEN = {
    "nothing said of the columns": Given((BARE,), OF_KEYS),
    "nothing said, of a release": Given((BARE, BARE), OF_KEYS | OF_PAIR),
    "nothing there, as was said": Given((BARE,), OF_KEYS, {"sensitive": [], "magnitudes": [], "household": "none"}),
    "nothing there, of a release": Given(
        (BARE, BARE), OF_KEYS | OF_PAIR, {"sensitive": [], "magnitudes": [], "household": "none"}
    ),
    "the columns are not in the file": Given((BARE,), {"k", "l"}, ROLES),
    "the columns have no value": Given((EMPTY,), set(), ROLES),
    "no sensitive value": Given((EMPTY,), OF_KEYS | {"recoverable"}, {"sensitive": ["ill"]}),
    "no number": Given((EMPTY,), OF_KEYS, {"magnitudes": ["pay"]}),
    "no number in the original": Given(
        (EMPTY.drop("home"), FILE.drop("home")), OF_KEYS | OF_PAIR, {"magnitudes": ["pay"]}
    ),
    "words instead of numbers": Given(
        (FILE.with_columns(pay=pl.lit("much")),), OF_KEYS, {"magnitudes": ["pay"]}
    ),
    "no household is numbered": Given((EMPTY,), set(), {"household": "home"}),
    "one file": Given((FILE,), OF_KEYS | OF_ROLES, ROLES),
    "one file of values taken out": Given((HIDDEN,), OF_KEYS | OF_ROLES | {"recoverable"}, ROLES),
    "nothing changed": Given(
        (FILE, FILE), OF_KEYS | OF_ROLES | OF_PAIR | {"match_risk", "few_matches", "correctly_disclosed"},
        {**ROLES, "aligned": True, "tables": TABLES},
    ),
    "rows that nobody put together": Given(
        (FILE, FILE), OF_KEYS | OF_ROLES | OF_PAIR | {"correctly_disclosed"}, {**ROLES, "tables": TABLES}
    ),
    "no tables": Given(
        (FILE, HIDDEN),
        OF_KEYS | OF_ROLES | OF_PAIR | {"match_risk", "few_matches", "correctly_disclosed", "recoverable"},
        {**ROLES, "aligned": True},
    ),
    "the people kept aside are those of the file": Given(
        (FILE, FILE), OF_KEYS | OF_ROLES | OF_PAIR | {"correctly_disclosed"}, ROLES, {"control": FILE}
    ),
    "the people kept aside lack a column that goes out": Given(
        (FILE, FILE), OF_KEYS | OF_ROLES | OF_PAIR | {"correctly_disclosed"}, ROLES, {"control": ASIDE.drop("who")}
    ),
    "rows that nobody says whose they are": Given((EMPTY,), OF_KEYS, {"person": "who", "time": "home"}),
    "no keys": Given((FILE, FILE.drop(KEYS)), set(), ROLES),
    "no value of a key": Given((FILE.with_columns(age=pl.lit(None, pl.Int64)),), set(), ROLES),
    "no record": Given((FILE, FILE[:0]), set(), ROLES),
    "a release has a column of another name": Given(
        (FILE, FILE.rename({"pay": "income"})), OF_KEYS | {"l", "household_risk", "household_uniques"}
        | {"replicated_uniques", "correctly_disclosed", "exact_numbers"}, ROLES,
    ),
    "one of two releases has less": Given(
        (FILE, [FILE.drop("pay", "ill", "home"), FILE]),
        OF_KEYS | {"replicated_uniques", "l", "household_risk", "household_uniques"},
        ROLES,
    ),
}  # fmt: skip


def widest(kind: LimitKind) -> float:
    """A limit that nearly everything keeps."""
    return {"level": 2, "share": 1.0, "share from 0": 0.95, "share at points": 0.95, "multiple": 99.0}[kind.values]


def judged(given: Given, name: str, **more: Any) -> CheckResult | None:
    """The gate with one limit; None where it is refused with a sentence."""
    limits = {"thresholds": {name: widest(declarable()[name])}} if name else {}
    with quiet(), suppress(SdcError):
        scenario = sdc.Scenario(keys=KEYS, **{**given.roles, **limits, **more})
        seed = {"seed": 1} if len(given.files) > 1 else {}
        return sdc.check(*given.files, scenario=scenario, **seed, **given.more)
    return None


def of_limit(result: CheckResult, name: str) -> list[Verdict]:
    return [verdict for verdict in result.verdicts if verdict.name == name]


@pytest.mark.parametrize("name", declarable())
@pytest.mark.parametrize("place", GIVEN)
def test_no_limit_holds_that_could_not_look(name: str, place: str) -> None:
    given = GIVEN[place]
    result = judged(given, name)
    if result is None:
        return
    verdicts = of_limit(result, name)
    assert verdicts, "a limit of the scenario is always asked"
    if name in given.looked_at:
        assert all(verdict.holds is not None for verdict in verdicts) or place == "one of two releases has less"
        return
    assert not result.passed
    assert all(verdict.holds is None and verdict.reason for verdict in verdicts)


@pytest.mark.parametrize("release", [name for name, limits in RELEASE_TYPES.items() if limits])
@pytest.mark.parametrize("place", GIVEN)
def test_no_limit_of_a_type_holds_that_could_not_look(release: str, place: str) -> None:
    """Where the office says that there is nothing of a kind, the limit is not asked: there is no verdict."""
    given = GIVEN[place]
    result = judged(given, "", release=release)
    if result is None:
        return
    for verdict in result.verdicts:
        if verdict.name in RELEASE_TYPES[release] and verdict.name not in given.looked_at:
            assert verdict.holds is not True, verdict
    unsaid = {"sensitive", "magnitudes", "household"} - {*given.roles}
    asked = {name for name, kind in declarable().items() if name in RELEASE_TYPES[release] and kind.needs in unsaid}
    open_limits = {verdict.name for verdict in result.undefined}
    assert {name for name in asked if declarable()[name].scope != "release" or len(given.files) > 1} <= open_limits


def test_rows_of_the_same_person_are_not_people() -> None:
    given = Given((FILE,), set(), {**ROLES, "person": "who", "release": "public-use"})
    for name, kind in declarable().items():
        if kind.of_rows:
            result = judged(given, name)
            assert result is not None
            (verdict,) = of_limit(result, name)
            assert (verdict.holds, verdict.single_rows) == (True, True)
            assert [followed.holds for followed in of_limit(result, "known_points")] == [False]
            unasked = judged(Given((FILE,), set(), {**given.roles, "release": "scientific-use"}), name)
            assert unasked is not None
            (verdict,) = of_limit(unasked, name)
            assert verdict.holds is None
            assert "rows are not people" in verdict.reason


def test_every_limit_is_tried_where_it_could_not_look() -> None:
    """A new one fails here until it is."""
    for name, kind in declarable().items():
        assert kind.of_rows or any(name not in given.looked_at for given in GIVEN.values())


def test_numbers_of_a_file_by_itself_are_judged_once() -> None:
    result = judged(GIVEN["one file"], "exact_numbers")
    assert result is not None
    (verdict,) = of_limit(result, "exact_numbers")
    assert not verdict.alone


@pytest.mark.parametrize("files", [(FILE,), (FILE, FILE)])
def test_what_was_not_changed_is_not_asked_what_it_gives_back(files: tuple[pl.DataFrame, ...]) -> None:
    """Of a type of release; the limit of a scenario itself stays open."""
    roles = {**ROLES, "aligned": True, "release": "public-use"}
    result = judged(Given(files, set(), roles), "")
    assert result is not None
    assert not {"recoverable", "k_undone"} & {verdict.name for verdict in result.verdicts}


def test_a_release_that_lacks_what_another_has_is_no_reason_of_its_own() -> None:
    """It has nothing to disclose of the column; the other release is judged."""
    limits = {"l": 2, "household_uniques": 1.0, "household_risk": 1.0}
    scenario = sdc.Scenario(keys=KEYS, sensitive=["ill"], household="home", thresholds=limits)
    with quiet():
        verdicts = sdc.check(FILE, [FILE.drop("ill", "home"), FILE], scenario=scenario, seed=1).verdicts
    assert {(verdict.name, verdict.variable, verdict.holds is not None) for verdict in verdicts} == {
        ("l", "ill", True), ("household_uniques", None, True), ("household_risk", None, True)
    }  # fmt: skip


def test_a_verdict_on_what_looks_changed_says_that_nothing_puts_rows_together() -> None:
    of_file = "nothing says which records belong together: what looks changed counts as changed"
    for together in (True, False):
        given = Given((FILE, HIDDEN), set(), {"aligned": together})
        result = judged(given, "recoverable")
        assert result is not None
        (verdict,) = of_limit(result, "recoverable")
        assert (verdict.holds, verdict.unmatched) == (True, not together)
        assert (of_file in verdict.sentence) is not together
        assert any("Nothing says which records belong" in words for words in result.told().sentences) is not together
