"""Verdicts: what holds, what does not, what could not be judged, and the words for each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.data.limits import LIMITS
from sdckit.data.scenarios.thresholds import Thresholds
from sdckit.workflow.check import check_assessment
from sdckit.workflow.verdicts import Verdict, judge, judge_attacks, judge_release, judge_undone, with_origins

FRAME = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "m", "m", "x"],
        "ill": ["a", "b", "c", "a", "a", "a"],
        "rich": ["y", "y", "y", "y", "n", "n"],
        "home": [1, 1, 2, 2, 3, 3],
    }
)


def judged(*, home: bool = True, sensitive: tuple[str, ...] = ("ill", "rich"), because: str = "", **limits: Any):
    """Verdicts about the frame: 3, 2 and 1 records with each key."""
    thresholds = Thresholds(**limits)
    with quiet():
        diversity = sdc.l_diversity(FRAME, keys=["sex"], sensitive=sensitive, levels=(2, 3)) if sensitive else None
        return judge(
            thresholds,
            "neighbour",
            {
                "k_anonymity": sdc.k_anonymity(FRAME, keys=["sex"], k=(2, 3, 4)),
                "individual_risk": sdc.individual_risk(FRAME, keys=["sex"], household="home" if home else None),
                **({} if diversity is None else {"l_diversity": diversity}),
            },
            sensitive=sensitive,
            skipped=[("l_diversity", because)] if because else [],
        )


GAPS = pl.DataFrame({"sex": ["f", "f", "m", "m", None], "age": [1, 1, 2, 3, 3]})


def test_a_verdict_on_k_says_both_rules_for_missing_values():
    with quiet():
        results = {
            "k_anonymity": sdc.k_anonymity(GAPS, keys=["sex", "age"], k=2),
            "k_anonymity:category": sdc.k_anonymity(GAPS, keys=["sex", "age"], k=2, missing="category"),
            "individual_risk": sdc.individual_risk(GAPS, keys=["sex", "age"]),
        }
    (one,) = judge(Thresholds(k=2), "neighbour", results, sensitive=(), skipped=())
    assert (one.holds, one.n_records, one.n_category, one.n_resting) == (False, 1, 3, 1)
    assert one.sentence == (
        "1 record is in a group of fewer than 2 with the same keys (k = 2) when a missing value may be any value "
        "(1 more would be, but for other records' missing values); with a missing value as a category, 3 records are "
        "in groups of fewer than 2"
    )
    del results["k_anonymity:category"]  # the declared rule is that one, or nothing is missing
    (one,) = judge(Thresholds(k=2), "neighbour", results, sensitive=(), skipped=())
    assert (one.n_category, one.n_resting) == (None, None)


def test_nothing_declared_nothing_judged():
    assert judged() == ()


@pytest.mark.parametrize(
    ("limits", "word", "records", "sentence"),
    [
        ({"k": 2}, "exceeded", 1, "1 record is in a group of fewer than 2 with the same keys (k = 2)"),
        ({"k": 3}, "exceeded", 3, "3 records are in groups of fewer than 3 with the same keys (k = 3)"),
        ({"risk": 0.5}, "exceeded", 1, "1 record has a risk of re-identification above 0.5"),
        ({"risk": 0.4}, "exceeded", 3, "3 records have a risk of re-identification above 0.4"),
        ({"risk": 1.0}, "holds", 0, "no record has a risk of re-identification above 1"),
        ({"household_risk": 0.6}, "exceeded", 4, "4 records have a household risk above 0.6"),
        ({"household_risk": 1.0}, "holds", 0, "no record has a household risk above 1"),
    ],
)
def test_a_threshold_on_records(limits, word, records, sentence):
    (verdict,) = judged(**limits)
    assert (verdict.word, verdict.n_records, verdict.sentence) == (word, records, sentence)
    assert verdict.holds == (word == "holds")
    assert (verdict.name, verdict.limit) == next(iter(limits.items()))
    assert (verdict.intruder, verdict.variable, verdict.value, verdict.reason) == ("neighbour", None, None, "")


def test_a_threshold_on_the_file_has_a_value_and_no_records():
    (above,) = judged(global_risk=0.4)  # three keys, six records: one half
    assert (above.holds, above.n_records, above.value) == (False, None, pytest.approx(0.5))
    assert above.sentence == "the expected share of records re-identified is 50 %, above 40 %"
    (at,) = judged(global_risk=above.value)
    assert at.holds
    assert at.sentence == "the expected share of records re-identified is 50 %, not above 50 %"


def test_l_is_judged_for_every_sensitive_variable():
    ill, rich = judged(l=2)
    assert (ill.variable, ill.n_records, rich.variable, rich.n_records) == ("ill", 3, "rich", 4)
    assert ill.sentence == "3 records are in groups with fewer than 2 different values of ill"
    (rich_only,) = judged(l=3, sensitive=("rich",))
    assert rich_only.n_records == 6


def test_one_record_short_of_l():
    verdict = Verdict("l", "i", "ill", 2, False, 1, None, "")
    assert verdict.sentence == "1 record is in a group with fewer than 2 different values of ill"


def test_what_holds_in_words():
    assert Verdict("k", "i", None, 2, True, 0, None, "").sentence == (
        "every record is in a group of at least 2 with the same keys (k = 2)"
    )
    assert Verdict("k", "i", None, 1001, True, 0, None, "").sentence.startswith(
        "every record is in a group of at least 1,001 with the same keys (k = 1,001)"
    )
    assert Verdict("l", "i", "ill", 2, True, 0, None, "").sentence == (
        "every group with the same keys holds at least 2 different values of ill"
    )
    assert Verdict("household_risk", "i", None, 0.1, False, 1, None, "").sentence == (
        "1 record has a household risk above 0.1"
    )
    assert Verdict("k", "i", None, 3, False, 12345, None, "").sentence.startswith(
        "12,345 records are in groups of fewer than 3 "
    )


def test_what_could_not_be_judged_says_why():
    (verdict,) = judged(home=False, household_risk=0.1)
    assert (verdict.word, verdict.holds, verdict.n_records, verdict.value) == ("not judged", None, None, None)
    assert verdict.sentence == "household_risk = 0.1: the scenario names no household column"


def test_l_that_could_not_be_judged():
    (none,) = judged(l=2, sensitive=(), because="the scenario names no sensitive variable")
    assert (none.variable, none.holds) == (None, None)
    assert none.sentence == "l = 2: the scenario names no sensitive variable"
    with quiet():
        measures = {
            "k_anonymity": sdc.k_anonymity(FRAME, keys=["sex"]),
            "individual_risk": sdc.individual_risk(FRAME, keys=["sex"]),
        }
    two = judge(
        Thresholds(l=2),
        "i",
        measures,
        sensitive=("ill", "rich"),
        skipped=[("l_diversity", "too large"), ("key_contributions", "too many")],
    )
    assert [(one.variable, one.holds, one.reason) for one in two] == [
        ("ill", None, "too large"),
        ("rich", None, "too large"),
    ]


def test_a_sensitive_variable_that_did_not_run_has_its_verdict_too():
    with quiet():
        verdicts = judge(
            Thresholds(l=2),
            "i",
            {
                "k_anonymity": sdc.k_anonymity(FRAME, keys=["sex"]),
                "individual_risk": sdc.individual_risk(FRAME, keys=["sex"]),
                "l_diversity": sdc.l_diversity(FRAME, keys=["sex"], sensitive="rich"),
            },
            sensitive=("rich", "ill"),
            skipped=[("l_diversity", "ill is empty")],
        )
    assert [(one.variable, one.holds, one.reason) for one in verdicts] == [
        ("rich", False, ""),
        ("ill", None, "ill is empty"),
    ]


def test_the_order_of_verdicts():
    found = judged(l=2, household_risk=0.5, global_risk=0.5, risk=0.5, k=2)
    assert [one.name for one in found] == ["k", "risk", "global_risk", "household_risk", "l", "l"]


def test_attacks_of_other_intruders_do_not_count():
    attacks = {
        "singling_out:univariate": _attack(0.1), "linkability:a": _attack(0.2, 0.4), "linkability:ab": _attack(0.9),
        "inference:a:ill": _attack(math.nan), "inference:ab:ill": _attack(0.8),
        "distance_to_closest_record": _Plain(({},)),
    }  # fmt: skip
    given = {"intruders": ("a", "ab", "b"), "failed": (), "control": 100}
    (found,) = judge_attacks(0.3, "a", attacks, **given)
    assert (found.value, found.holds, found.intruder) == (0.4, False, "a")
    assert judge_attacks(0.3, "b", attacks, **given)[0].value == 0.1
    assert judge_attacks(None, "a", attacks, **given) == ()


def test_an_intruder_with_the_name_of_a_mode_hides_no_attack():
    attacks = {"singling_out:univariate": _attack(0.5), "linkability:a": _attack(0.1)}
    for name in ("a", "univariate"):
        (found,) = judge_attacks(0.3, name, attacks, intruders=("a", "univariate"), failed=(), control=100)
        assert found.value == 0.5


def test_what_leaves_the_residual_risk_open():
    attacks = {"membership": _attack(0.1), "linkability:ab": _attack(0.2)}

    def reason(intruder="a", failed=(), *, control=100, attacks=attacks):
        (found,) = judge_attacks(0.3, intruder, attacks, intruders=("a", "ab"), failed=failed, control=control)
        assert found.holds is None
        return found.reason

    assert "no control file" in reason(control=0)
    assert "too few people were kept aside: 49" in reason(control=49)
    assert "no attack with a residual risk could be made" in reason(attacks={})
    assert reason(failed=["inference:a:ill"]).endswith("could be made: inference:a:ill")
    (found,) = judge_attacks(0.3, "a", attacks, intruders=("a", "ab"), failed=["linkability:ab"], control=100)
    assert found.holds
    overlapping = {"membership": _Plain(({"risk": 0.0},), control_state="overlapping")}
    assert "people of the original are in the control file" in reason(attacks=overlapping)


def test_a_limit_on_members_told_reads_its_own_attack():
    of_members = next(kind for kind in LIMITS.values() if kind.values == "multiple")
    interval = SimpleNamespace(low=0.03, high=0.08)
    near = SimpleNamespace(per_release=({"risk": 0.9},), tpr_multiple=6.5, judged=interval, notes={})
    every = SimpleNamespace(per_release=({"risk": 0.9},), tpr_multiple=2.0, judged=None, notes={})
    attacks = {"linkability:a": _attack(0.9), "membership": near, "membership:all": every}
    given = {"intruders": ("a",), "failed": ["linkability:a"], "control": 1000, "kind": of_members}
    (found,) = judge_attacks(6.0, "a", attacks, **given)
    assert (found.name, found.holds, found.value, found.ends) == (of_members.name, False, 6.5, (0.03, 0.08))
    assert "6.5 times as many members are recognised (excess over others 3.0% to 8.0%), above 6 times" in found.sentence
    assert judge_attacks(6.5, "a", attacks, **given)[0].holds
    near.tpr_multiple, near.notes = math.nan, {"tpr_multiple": "not judged: too few"}
    (found,) = judge_attacks(6.5, "a", attacks, **given)
    assert (found.holds, found.reason) == (None, "not judged: too few")
    (found,) = judge_attacks(6.5, "a", {"linkability:a": _attack(0.9)}, **given)
    assert (found.holds, found.reason) == (None, of_members.without)
    (found,) = judge_attacks(6.5, "a", attacks, **{**given, "failed": ["membership:all"]})
    assert found.reason.endswith("could be made: membership:all")


def test_a_figure_just_beyond_its_limit_does_not_read_as_its_limit():
    of_members = next(kind for kind in LIMITS.values() if kind.values == "multiple")
    given = {"intruders": ("a",), "failed": (), "control": 1000}
    (risk,) = judge_attacks(0.05, "a", {"linkability:a": _attack(0.050001)}, **given)
    assert "of the simulated attacks is 0.050001, above 0.05" in risk.sentence
    near = SimpleNamespace(per_release=({"risk": 0.9},), tpr_multiple=5.001, judged=None, notes={})
    (told,) = judge_attacks(5.0, "a", {"membership": near}, **given, kind=of_members)
    assert "5.001 times as many members are recognised, above 5 times" in told.sentence


def test_a_note_is_never_read_for_a_verdict():
    words = {"residual": "mean over the 2 of 3 releases where it is defined"}
    noted = {"membership": _Plain(({"risk": 0.1},), words, "shared")}
    (found,) = judge_attacks(0.3, "a", noted, intruders=("a",), failed=(), control=100)
    assert (found.holds, found.value) == (True, 0.1)


@pytest.mark.parametrize("order", [(0.1, math.nan), (math.nan, 0.1)])
def test_a_figure_undefined_in_one_release_leaves_its_limit_open(order):
    """The larger of a number and of nothing depends on which stands first."""
    result = _Plain(tuple({"mean_match_risk": value} for value in order))
    given = {"sensitive": (), "skipped": ()}
    (found,) = judge_release(Thresholds(match_risk=0.5), "a", {"matching_risk": result}, **given)
    assert (found.holds, found.reason) == (None, "its figure is undefined in a release")


@pytest.mark.parametrize(("here", "otherwise"), [(0.2, 0.6), (0.6, 0.2)])
def test_of_two_readings_the_higher_is_judged(here, otherwise):
    """Whole numbers that nothing declares may be categories or numbers: a limit holds only if it holds for both."""
    result = _Plain(({"mean_match_risk": here, "mean_match_risk_otherwise": otherwise},))
    (verdict,) = judge_release(Thresholds(match_risk=0.5), "a", {"matching_risk": result}, sensitive=(), skipped=())
    assert (verdict.holds, verdict.value) == (False, 0.6)


def test_a_release_of_codes_is_judged_by_its_worse_reading():
    trades = pl.DataFrame({"sex": ["f", "m", "m", "f"] * 40, "trade": [1 + i * 7 % 16 for i in range(160)]})
    release = trades.with_columns(trade=pl.when(pl.int_range(160) % 9 == 0).then(99).otherwise("trade"))

    def verdict(limit, **roles):
        scenario = sdc.Scenario(keys=["sex", "trade"], aligned=True, thresholds={"match_risk": limit}, **roles)
        with quiet():
            found = sdc.assess(trades, released=release, scenario=scenario)
        return next(one for one in found.verdicts if one.name == "match_risk"), found["default"]["matching_risk"]

    judged, result = verdict(0.5)
    assert judged.value == result.mean_match_risk_otherwise > result.mean_match_risk
    between = (result.mean_match_risk + result.mean_match_risk_otherwise) / 2
    assert verdict(between)[0].holds is False
    assert verdict(between, numeric=["trade"])[0].holds is False  # a number, which may be known exactly
    assert verdict(between, matching={"width": {"trade": 0.1}})[0].holds is True
    assert verdict(between, ordered=["trade"])[0].holds is False


@dataclass(frozen=True)
class _Plain:
    per_release: tuple[dict[str, float], ...]
    notes: dict[str, str] = field(default_factory=dict)
    control_state: str = "apart"


def _attack(*risks):
    return _Plain(tuple({"risk": risk} for risk in risks))


RNG = np.random.default_rng(3)
PLACE = RNG.integers(0, 8, 400)
TOLD = pl.DataFrame(
    {"place": [f"p{one}" for one in PLACE], "weight": PLACE * 10 + 5.5, "sex": RNG.choice(["f", "m"], 400)}
)
BLANK = TOLD.with_columns(place=pl.when(pl.int_range(400) < 30).then(None).otherwise("place"))


def undone(released: pl.DataFrame, *, missing: str = "", keys: tuple[str, ...] = ("place", "sex"), **limits: Any):
    thresholds = Thresholds(**limits)
    found = {
        "recoverable_values": sdc.recoverable_values(
            released, TOLD, keys=keys, weight="weight", k=[2, 3, 60], risk=limits.get("risk"), guess=False
        )
    }
    skipped = [("recoverable_values", missing)] if missing else []
    return judge_undone(thresholds, "neighbour", {} if missing else found, skipped=skipped)


def test_what_is_given_back_is_judged_and_named():
    share, k, risk = undone(BLANK, recoverable=0.5, k=60, risk=1e-9)
    assert (share.holds, share.value, share.variable) == (False, 1.0, "place")
    assert "place" in share.sentence
    assert "weight" in share.sentence
    sizes = TOLD.group_by("place", "sex").len()["len"]
    assert (k.holds, k.n_records) == (False, sizes.filter(sizes < 60).sum())
    assert k.sentence.startswith("with reconstructed values (rule: weight)")
    assert (risk.holds, risk.n_records) == (False, 400)


def test_what_is_given_back_but_harms_nobody_holds():
    share, k, risk = undone(BLANK, recoverable=1.0, k=2, risk=0.9)
    assert all(one.holds for one in (share, k, risk))
    assert "at most 100 %" in share.sentence


def test_nothing_given_back_leaves_k_and_risk_as_they_were():
    apart = BLANK.with_columns(weight=pl.lit(1.5))
    (share,) = undone(apart, recoverable=0.0, k=60, risk=0.001, keys=("place",))
    assert (share.holds, share.value) == (True, 0.0)
    assert undone(TOLD, k=60, risk=1e-9) == ()


def test_what_was_not_run_is_not_judged():
    found = undone(BLANK, missing="no such file", recoverable=0.5, k=3, risk=0.1)
    assert [one.holds for one in found] == [None, None, None]
    assert all("no such file" in one.reason for one in found)
    assert undone(BLANK, missing="no such file") == ()


HOMES = pl.DataFrame({"home": [1, 1, 2, 2, 3, 3, 4], "sex": ["f", "m", "m", "f", "f", "f", "m"]})


@pytest.mark.parametrize(
    ("limit", "word", "sentence"),
    [
        (0.4, "exceeded", "50 % of the households are alone with their composition, above 40 %"),
        (0.5, "holds", "50 % of the households are alone with their composition, not above 50 %"),
    ],
)
def test_households_alone_with_their_composition(limit, word, sentence):
    """Two homes of a woman and a man; one of two women; a man alone."""
    scenario = sdc.Scenario(keys=["sex"], household="home", thresholds={"household_uniques": limit})
    with quiet():
        (one,) = sdc.assess(HOMES, scenario=scenario).verdicts
    assert (one.name, one.word, one.sentence, one.value) == ("household_uniques", word, sentence, 0.5)


def test_without_households_their_limit_is_not_judged():
    with quiet():
        (one,) = sdc.assess(HOMES, scenario=sdc.Scenario(keys=["sex"], thresholds={"household_uniques": 0.0})).verdicts
    assert (one.holds, one.word) == (None, "not judged")
    assert "household" in one.reason


def test_check_says_that_too_many_households_are_alone():
    rng = np.random.default_rng(8)
    people = pl.DataFrame({"home": np.arange(400) // 4, "sex": rng.choice(["f", "m"], 400)})
    rest = {"keys": ["sex"], "household": "home"}
    strict = sdc.Scenario(**rest, thresholds={"k": 3, "household_uniques": 0.0})
    assert sdc.check(people, scenario=sdc.Scenario(**rest, thresholds={"k": 3, "household_uniques": 0.01})).passed
    lone = people.with_columns(sex=pl.when(pl.int_range(400) < 3).then(pl.lit("x")).otherwise("sex"))
    found = sdc.check(lone, scenario=strict)
    assert [one.name for one in found.exceeded] == ["household_uniques"]


# Every verdict of a scenario with a type of release says where its limit comes from; without a type none
# does.


PEOPLE = pl.DataFrame(
    {
        "sex": ["f"] * 6 + ["m"] * 5 + ["f"],
        "age": [30] * 6 + [41] * 5 + [60],
        "ill": ["a", "b"] * 6,
        "home": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6],
    }
)
ROLES = {"keys": ["sex", "age"], "sensitive": ["ill"], "magnitudes": [], "sampling_fraction": 0.001}
ALONE = {"household": "none", "insensitive": ["home"]}


def test_the_type_is_a_gate() -> None:
    result = sdc.check(PEOPLE, scenario=sdc.Scenario(**ROLES, **ALONE, release="public-use"))
    assert [(one.name, one.limit, one.origin) for one in result.verdicts] == [
        *((name, limit, "limit of a public-use file") for name, limit in (("k", 5), ("risk", 0.05), ("l", 2))),
        ("roles", None, ""),
    ]
    assert not result.passed
    assert result.exceeded[0].sentence.endswith("(k = 5); limit of a public-use file")
    without = PEOPLE.head(11)
    assert sdc.check(without, scenario=sdc.Scenario(**ROLES, **ALONE, release="public-use")).passed
    assert "limit of a public-use file" in repr(result.assessment)


def test_what_a_type_asks_and_nobody_answered_is_not_judged() -> None:
    scenario = sdc.Scenario(keys=["sex", "age"], sampling_fraction=0.001, release="public-use")
    result = sdc.check(PEOPLE.head(11), scenario=scenario)
    assert {one.name: one.holds for one in result.verdicts} == {
        "k": True, "risk": True, "household_risk": None, "l": None, "exact_numbers": None, "roles": None,
    }  # fmt: skip
    reasons = {one.name: one.sentence for one in result.undefined}
    assert "write sensitive = [" in reasons["l"]
    assert 'household = "none"' in reasons["household_risk"]
    assert reasons["roles"].startswith("roles: nobody said what these columns are: 'ill', 'home'; give each a role")
    assert not result.passed


def test_roles_are_one_verdict_however_many_intruders() -> None:
    who = {"a": ["sex"], "b": ["age"]}
    scenario = sdc.Scenario(intruders=who, sensitive=["ill"], **ALONE, sampling_fraction=0.001, release="partners",
                            release_types={"partners": {"k": 2}})  # fmt: skip
    result = sdc.check(PEOPLE.head(11), scenario=scenario)
    assert [(one.name, one.intruder, one.holds) for one in result.verdicts] == [
        ("k", "a", True), ("k", "b", True), ("roles", "", True),
    ]  # fmt: skip
    assert result.verdicts[-1].sentence == "every column that goes out has a role"
    assert sdc.check(PEOPLE.head(11), scenario=scenario.changed(release="enclave", thresholds={"k": 2})).passed
    forgotten = check_assessment(replace(result.assessment, column_roles=None))
    assert [one.reason for one in forgotten.undefined] == ["the columns that go out were not looked at"]


def test_the_released_columns_are_judged_and_not_those_of_the_original() -> None:
    scenario = sdc.Scenario(**ROLES, household="none", aligned=True, release="partners",
                            release_types={"partners": {"k": 2}})  # fmt: skip
    good = PEOPLE.head(11)
    kept, added = good.drop("home"), good.with_columns(band=pl.lit("x"), name=pl.lit("y"))
    for release, missing in ((kept, ()), (added, ("home", "band", "name")), ([kept, added], ("home", "band", "name"))):
        with quiet():
            result = sdc.check(good, release, scenario=scenario, seed=1)
        assert result.assessment.column_roles.missing == missing
        assert result.verdicts[-1].holds is (None if missing else True)
        assert result.passed is not bool(missing)
    named = scenario.changed(identifiers=["name"], insensitive=["home", "band"])
    with quiet():
        result = sdc.check(good, added, scenario=named, seed=1)
    (one,) = result.exceeded
    assert one.sentence == "a direct identifier goes out: 'name'"


def test_a_type_under_contract_asks_less() -> None:
    scenario = sdc.Scenario(keys=["sex", "age"], household="none", sampling_fraction=0.001, release="scientific-use")
    trio = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 3, "age": [30] * 3 + [41] * 3})
    assert sdc.check(trio, scenario=scenario).passed
    public = scenario.changed(release="public-use", thresholds={"l": "none"})
    assert [one.name for one in sdc.check(trio, scenario=public).exceeded] == ["k"]


def test_households_are_judged_where_there_are_some() -> None:
    scenario = sdc.Scenario(**ROLES, household="home", release="scientific-use")
    found = {one.name: one for one in sdc.assess(PEOPLE, scenario=scenario).verdicts}
    assert found["household_risk"].limit == 0.2
    assert found["household_risk"].holds is not None


def test_a_verdict_without_a_type_says_nothing_of_it() -> None:
    scenario = sdc.Scenario(**ROLES, thresholds={"k": 2})
    (one,) = sdc.assess(PEOPLE, scenario=scenario).verdicts
    assert one.origin == ""
    assert one.sentence.endswith("(k = 2)")


def test_what_is_given_back_is_judged_by_the_same_limit() -> None:
    verdicts = [Verdict(name, "default", None, 5, True, 0, None, "") for name in ("k", "k_undone", "risk_undone")]
    scenario = sdc.Scenario(**ROLES, release="public-use", thresholds={"k": 5})
    found = [one.origin for one in with_origins(verdicts, scenario)]
    assert found == ["limit of the scenario (a public-use file: 5)"] * 2 + ["limit of a public-use file"]


def released(frame: pl.DataFrame, of: pl.DataFrame = PEOPLE, **more: object) -> sdc.ReleaseAssessment:
    with quiet():
        return sdc.assess(of, frame, scenario=sdc.Scenario(**ROLES, household="home", aligned=True, **more), seed=1)


def test_a_public_release_gives_nothing_back() -> None:
    hidden = PEOPLE.with_columns(sex=pl.when(pl.int_range(pl.len()) > 2).then("sex"))
    found = {one.name: one for one in released(hidden, release="public-use").verdicts}
    assert (found["recoverable"].limit, found["recoverable"].origin) == (0.0, "limit of a public-use file")
    assert "recoverable" not in {one.name for one in released(hidden, release="scientific-use").verdicts}
    unchanged = released(PEOPLE, release="public-use")  # nothing was taken out: there is nothing to ask
    assert "recoverable" not in {one.name for one in unchanged.verdicts}


def test_a_release_without_households_holds_the_limit_of_its_type_alone() -> None:
    without = PEOPLE.drop("home")
    apart = PEOPLE.with_columns(home=pl.Series([*range(6), *range(6)]))
    found = [released(without, of, release="public-use").verdicts for of in (apart, PEOPLE)]
    one, told = [one for verdicts in found for one in verdicts if one.name == "household_risk"]
    assert (one.holds, one.reason) == (True, "the release does not have the household column")
    assert one.origin == told.origin == "limit of a public-use file"
    assert told.holds is None
    assert "the order of its rows tells who lives together" in told.reason
    (own,) = released(without, thresholds={"household_risk": 0.05}).verdicts
    # as written, so asked for; the scenario does name the column
    assert (own.holds, own.reason.partition(";")[0]) == (None, "the release does not have the household column")


def test_the_gate_of_a_release_has_every_limit_of_its_type() -> None:
    scenario = releases.scenario(release="public-use")
    with quiet():
        result = sdc.check(releases.original(), releases.release(), scenario=scenario, seed=1)
    assert {one.name for one in result.verdicts} >= {"k", "risk", "recoverable"}
    assert all(one.origin for one in result.verdicts if one.limit is not None)


@pytest.mark.parametrize("files", [(PEOPLE,), (PEOPLE, PEOPLE)])
def test_a_type_without_limits_is_no_gate(files: tuple[pl.DataFrame, ...]) -> None:
    scenario = sdc.Scenario(**ROLES, release="enclave")
    with pytest.raises(sdc.ScenarioError, match=r"secure environment has no threshold .* \[release_types\]"):
        sdc.check(*files, scenario=scenario)


def test_a_limit_on_two_files_alone_is_no_gate_for_one() -> None:
    scenario = sdc.Scenario(**ROLES, release="own", release_types={"own": {"recoverable": 0.5}})
    with pytest.raises(sdc.ScenarioError, match="has no threshold that could be checked here"):
        sdc.check(PEOPLE, scenario=scenario)


def test_functions_take_k_from_the_type() -> None:
    scenario = sdc.Scenario(keys=["sex", "age"], release="public-use")
    assert 5 in sdc.k_anonymity(PEOPLE, scenario=scenario, k=2).violations
    _, change = sdc.local_suppression(PEOPLE, scenario=scenario)
    assert change.changed == {"sex": 0, "age": 1}
