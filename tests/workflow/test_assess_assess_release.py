"""A release against its original: before and after, worst verdicts, roles that a release has not."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.workflow.left_open import WHY


def assessed(released=None, **options):
    with quiet():
        return sdc.assess(
            releases.original(),
            releases.release() if released is None else released,
            scenario=releases.scenario(**options),
            seed=1,
        )


def test_before_and_after_are_assessments():
    found = assessed()
    alone = sdc.assess(releases.original(), scenario=releases.scenario())
    assert (
        found.original["default"]["key_frequencies"].sample_uniques
        == alone["default"]["key_frequencies"].sample_uniques
    )
    after = sdc.assess(releases.release(), scenario=releases.scenario())
    assert found.released[0].to_dict()["intruders"] == after.to_dict()["intruders"]
    assert (found.n, found.m, found.aligned) == (releases.N, 1, True)


def test_k_is_judged_on_the_release():
    found = assessed(thresholds={"k": 3})
    (verdict,) = found.verdicts
    assert verdict.n_records == found.released[0]["default"]["k_anonymity"].violations[3]
    assert verdict.n_records != found.original["default"]["k_anonymity"].violations[3]
    assert found.passed is False


def test_of_several_releases_the_worst_is_judged():
    several = [releases.release(seed=seed) for seed in range(3)]
    found = assessed(several, thresholds={"k": 3, "match_risk": 0.5, "replicated_uniques": 0.001})
    beyond = [one["default"]["k_anonymity"].violations[3] for one in found.released]
    by_name = {verdict.name: verdict for verdict in found.verdicts}
    assert by_name["k"].n_records == max(beyond)
    figures = found["default"]["identity_disclosure"].per_release
    assert by_name["replicated_uniques"].value == max(one["replicated_uniques"] for one in figures)
    assert [by_name[name].holds for name in ("k", "match_risk", "replicated_uniques")] == [False, None, False]
    assert by_name["match_risk"].reason == WHY["together"]  # while each by itself is within the limit
    for one in several:
        assert assessed(one, thresholds={"match_risk": 0.5}).passed


def test_a_release_judged_by_what_is_disclosed():
    found = assessed(thresholds={"correctly_disclosed": 0.99})
    assert [(verdict.variable, verdict.holds) for verdict in found.verdicts] == [("ill", True), ("income", True)]


def test_thresholds_on_two_files_cannot_be_judged_on_one():
    alone = sdc.assess(releases.original(), scenario=releases.scenario(thresholds={"match_risk": 0.5}))
    assert alone.passed is None
    assert "only one file is given" in alone.verdicts[0].reason
    assert not sdc.check(releases.original(), scenario=releases.scenario(thresholds={"match_risk": 0.5})).passed


def test_a_measure_that_did_not_run_leaves_its_threshold_open():
    found = assessed(aligned=False, thresholds={"match_risk": 0.5})
    assert found.passed is None
    assert "not declared to come from row i" in found.verdicts[0].reason
    assert "matching_risk" in dict(found["default"].skipped)


def test_a_release_without_weight_is_measured_without_it():
    with pytest.warns(sdc.SdcWarning, match="the release has no column 'w'"):
        found = sdc.assess(
            releases.original(), releases.release().drop("w"), scenario=releases.scenario(weight="w"), seed=1
        )
    assert found.original.scenario.weight == "w"
    assert found.released[0].scenario.weight is None
    assert any("no column 'w' (weight)" in text for text in found.warnings)


def test_a_sensitive_variable_left_out_cannot_be_learnt_from_groups():
    found = assessed(releases.release().drop("ill", "income"), thresholds={"l": 2})
    assert [(verdict.variable, verdict.holds) for verdict in found.verdicts] == [("ill", True), ("income", True)]
    assert found["default"].skipped


def test_rows_are_matched_by_id():
    shuffled = releases.release().sample(fraction=1.0, shuffle=True, seed=3)
    with quiet():
        by_id = sdc.assess(releases.original(), shuffled, scenario=releases.scenario(aligned=False), id="pid", seed=1)
    straight = assessed()
    assert by_id["default"]["matching_risk"].to_dict() == straight["default"]["matching_risk"].to_dict()


def test_an_unchanged_release_is_said_to_be_one():
    with pytest.warns(sdc.SdcWarning, match="the release has the keys of the original, row by row"):
        found = sdc.assess(releases.original(), releases.original(), scenario=releases.scenario(), seed=1)
    assert found["default"]["identity_disclosure"].replicated_uniques == pytest.approx(
        found["default"]["identity_disclosure"].unique_in_original
    )


def test_a_key_that_the_release_has_not_is_named():
    with pytest.raises(sdc.ColumnError, match="the release has no column 'region'"):
        assessed(releases.release().drop("region"))


def test_every_intruder_is_compared():
    intruders = {"near": ["sex", "age"], "far": ["sex", "age", "region"]}
    found = assessed(keys=None, intruders=intruders, thresholds={"k": 2})
    assert [one.name for one in found.intruders] == ["near", "far"]
    assert len(found.verdicts) == 2


def test_the_gate_judges_the_release():
    limits = {"k": 2, "match_risk": 0.9, "correctly_disclosed": 0.9}
    with quiet():
        result = sdc.check(
            releases.original(), releases.release(), scenario=releases.scenario(thresholds=limits), seed=1
        )
    assert not result.undefined
    assert [verdict.name for verdict in result.exceeded] == ["k"]


def test_the_residual_risk_of_the_worst_attack_is_judged_per_intruder():
    intruders = {"near": ["sex", "age"], "far": ["sex", "age", "region"]}
    limits = {"residual_risk": 0.3}
    with quiet():
        found = sdc.assess(
            releases.original(), releases.release(share=0.1), control=releases.original(seed=9), seed=1,
            scenario=releases.scenario(keys=None, intruders=intruders, thresholds=limits),
        )  # fmt: skip
    for verdict in found.verdicts:
        risks = [
            one.get("risk", float("nan"))
            for place in found.attacks
            if not place.startswith(("linkability", "inference")) or f":{verdict.intruder}" in place
            for one in found.attacks[place].per_release
        ]
        assert verdict.value == max(risk for risk in risks if not math.isnan(risk))
        assert verdict.holds == (verdict.value <= 0.3)
    assert "residual risk of the simulated attacks" in found.verdicts[0].sentence


def test_the_gate_does_not_pass_where_an_attack_could_not_be_made():
    """A control file whose answers are coded otherwise: inference fails, and what it would have found is open."""
    copy = releases.original().with_columns(pl.col("income") + 1)
    control = releases.original(seed=9).with_columns(pl.col("ill").replace_strict({"yes": 1, "no": 0}))
    limits = releases.scenario(thresholds={"residual_risk": 0.3})
    with quiet():
        result = sdc.check(releases.original(), copy, scenario=limits, control=control, seed=1)
        shuffled = sdc.check(
            releases.original(), copy, scenario=limits, control=releases.original().sample(fraction=1, shuffle=True),
            seed=1,
        )  # fmt: skip
    assert not result.passed
    assert "not every attack could be made" in result.undefined[0].reason
    assert "people of the original are in the control file" in shuffled.undefined[0].reason
    with pytest.raises(sdc.DataError, match="seed= takes a whole number"):
        sdc.check(releases.original(), copy, scenario=limits, control=control, seed=True)
    with pytest.raises(sdc.ScenarioError, match="for a release against its original"):
        sdc.check(releases.original(), scenario=limits, control=control)


def population(n, seed):
    """Generate people with eleven columns: four that somebody knows, five items, hours and pay."""
    rng = np.random.default_rng(seed)
    attitude = rng.integers(0, 4, n)
    columns = {
        "sex": rng.choice(["f", "m"], n), "age": rng.integers(18, 90, n) // 5 * 5,
        "region": rng.integers(1, 8, n).astype(str), "educ": rng.integers(1, 5, n).astype(str),
    }  # fmt: skip
    columns |= {f"item_{number}": (attitude + rng.integers(0, 4, n)) % 7 for number in range(5)}
    columns |= {"hours": rng.integers(0, 60, n), "pay": np.round(np.exp(rng.normal(7, 0.5, n) + attitude / 5))}
    return pl.DataFrame(columns)


PEOPLE, ASIDE, DRAWN_ANEW = (population(800, seed) for seed in (1, 2, 3))
COPIED = pl.concat([PEOPLE[:374], DRAWN_ANEW[:426]])
FOUR_KNOWN = sdc.Scenario(keys=["sex", "age", "region", "educ"], thresholds={"residual_risk": 0.1})


def test_copies_are_found_in_the_columns_that_nobody_declared():
    """Nearly half of the rows are whole copies, which four of eleven columns show a third of."""
    with quiet():
        leaky = sdc.check(PEOPLE, COPIED, scenario=FOUR_KNOWN, control=ASIDE, seed=1)
        harmless = sdc.check(PEOPLE, DRAWN_ANEW, scenario=FOUR_KNOWN, control=ASIDE, seed=1)
    assert (leaky.passed, harmless.passed) == (False, True)
    (exceeded,) = leaky.exceeded
    assert exceeded.value == leaky.assessment.attacks["membership:all"].risk > 0.3
    for result in (leaky, harmless):
        assert "with 4 and with 11 of 11 columns that go out" in result.verdicts[0].sentence
        assert "with 4 and with 11 of 11 columns that go out" in result.told().sentences[0]


def test_attacks_are_made_once_where_every_column_is_declared():
    columns = list(FOUR_KNOWN.keys)
    with quiet():
        found = sdc.assess(
            PEOPLE[columns], COPIED[columns], scenario=FOUR_KNOWN, control=ASIDE[columns], seed=1, n_attacks=50
        )
    assert not [place for place in found.attacks if place.endswith(":all")]
    assert found.attacks_asked.words == "with 4 of 4 columns that go out"


def test_a_control_file_that_lacks_columns_leaves_the_residual_risk_open():
    given = {"scenario": FOUR_KNOWN, "seed": 1}
    with quiet():
        fewer = sdc.check(PEOPLE, DRAWN_ANEW, control=ASIDE.drop("pay", "hours"), **given)
        added = sdc.check(PEOPLE, DRAWN_ANEW.with_columns(source=pl.lit("s")), control=ASIDE, **given)
        leaky = sdc.check(PEOPLE, COPIED, control=ASIDE.drop("pay"), **given)
    assert fewer.undefined[0].reason.endswith("with which no attack could be made: hours, pay")
    assert "with 4 and with 11 of 12 columns" in added.verdicts[0].sentence
    assert [verdict.word for verdict in leaky.verdicts] == ["exceeded"]  # what is told without it is enough


def test_a_column_that_cannot_be_compared_leaves_the_residual_risk_open():
    other = DRAWN_ANEW.with_columns(pl.col("hours").map_elements(lambda hours: f"h{hours % 7}", pl.String))
    with quiet():
        found = sdc.check(PEOPLE, other, scenario=FOUR_KNOWN, control=ASIDE, seed=1)
    assert found.undefined[0].reason == "not every attack could be made: singling_out:all, membership:all"
    assert dict(found.assessment.attacks_skipped)["membership:all"].startswith(
        "column 'hours' holds numbers in the original and text"
    )


def test_declared_bands_of_a_column_are_made_in_the_original_and_the_control_file_too():
    """A column in bands that nobody declared is recoded before it is attacked: it is no difference of the files."""
    banded = pl.concat([COPIED, COPIED]).with_columns(
        pl.col("hours").floordiv(10).map_elements(lambda ten: f"{10 * ten}-{10 * ten + 9}", pl.String)
    )
    with quiet():
        found = sdc.assess(PEOPLE, banded, scenario=FOUR_KNOWN, control=ASIDE, seed=1)
    assert found.attacks["membership:all"].risk > 0.3
    assert found.recoded == ()


def test_the_residual_risk_needs_a_control_file():
    found = assessed(thresholds={"residual_risk": 0.3})
    assert found.passed is None
    assert "no people were kept aside (no control file)" in found.verdicts[0].reason


def test_what_belongs_to_a_release_is_refused_without_one():
    with pytest.raises(sdc.ScenarioError, match="are for a release against its original"):
        sdc.assess(releases.original(), scenario=releases.scenario(), id="pid")


def test_a_mean_over_releases_is_no_overlap_of_the_files():
    """One of three releases leaves nothing to single out: its note says over how many the mean is."""
    several = [releases.release(seed=1), releases.release(seed=2), releases.release().with_columns(income=1.0)]
    limits = releases.scenario(thresholds={"residual_risk": 0.9})
    given = {"scenario": limits, "seed": 1, "n_attacks": 50}
    with quiet():
        found = sdc.assess(releases.original(), several, control=releases.original(seed=9), **given)
        shared = sdc.assess(releases.original(), several[0], control=releases.original(), **given)
    singled = found.attacks["singling_out:univariate"]
    assert singled.per_release[2]["n_attacks"] == 0
    assert singled.notes["residual"].startswith("mean over the 2 of 3 releases")
    assert (singled.control_state, singled.n_overlap) == ("apart", 0)
    assert [verdict.holds for verdict in found.verdicts] == [True]
    assert "people of the original are in the control file" in shared.verdicts[0].reason
    member = shared.attacks["membership"]
    assert (member.control_state, member.n_overlap) == ("overlapping", releases.N)


def test_numbers_are_matched_as_numbers_and_the_scenario_says_how_near():
    changed = ["sex", "age", "income"]
    given = {"keys": changed, "sensitive": ["ill"], "numeric": []}
    found = assessed(**given)["default"]["matching_risk"]
    assert [one.matched for one in found.variables] == ["exactly", "exactly", "within ± 10 % of the value"]
    assert (found.variables[0].role, found.variables[1].role) == ("known", "synthetic")
    exactly = assessed(**given, matching={"width": 0})["default"]["matching_risk"]
    assert found.expected_match_risk > exactly.expected_match_risk
    assert found.mean_match_risk > found.baseline > 0
    two = assessed(
        keys=None, sensitive=["ill"], intruders={"a": ["sex", "income"], "b": ["sex", "region"]},
        matching={"width": {"income": 0.3}, "synthetic": ["region"]},
    )  # fmt: skip
    assert [one.matched for one in two["a"]["matching_risk"].variables] == ["exactly", "within ± 30 % of the value"]
    assert [one.role for one in two["b"]["matching_risk"].variables] == ["known", "synthetic"]


def test_a_variable_that_no_release_has_is_judged_where_a_limit_asks_for_it() -> None:
    released = releases.release().drop("ill")
    for limits, names in (({"k": 3}, {"k"}), ({"k": 3, "l": 2}, {"k", "l"})):
        with quiet():
            found = sdc.assess(releases.original(), released, scenario=releases.scenario(thresholds=limits), seed=1)
        assert {one.name for one in found.verdicts} == names


def test_insensitive_columns_stay_attacked_and_clues() -> None:
    found = []
    for entries in ({}, {"insensitive": ["*"], "insensitive_because": "looked through"}):
        scenario = releases.scenario(thresholds={"recoverable": 0.5}, **entries)
        with quiet():
            found.append(
                sdc.assess(
                    releases.original(), releases.release(), scenario=scenario, attacks=True, n_attacks=20, seed=1
                )
            )
    without, insensitive = found
    assert insensitive.attacks_asked == without.attacks_asked
    assert insensitive.attacks.keys() == without.attacks.keys()
    for name in without:
        columns = [one[name]["recoverable_values"].columns for one in found]
        assert [column.column for column in columns[0][0]] == [column.column for column in columns[1][0]]
        assert [column.sources for column in columns[0][0]] == [column.sources for column in columns[1][0]]


def test_the_values_of_a_key_that_was_recoded_are_no_cause_to_warn():
    """Of the original as collected it said "recode it into fewer first", beside a release in which that is done."""
    data = pl.DataFrame({"born": [1000 + at % 1100 for at in range(2200)], "sex": ["f", "m"] * 1100})
    recipe = sdc.Recipe([{"method": "recode", "column": "born", "bands": [1000, 1400, 1800, 2200]}])
    scenario = sdc.Scenario(keys=["born", "sex"])
    with quiet():
        beside = sdc.assess(data, recipe.apply(data).data, scenario=scenario, recipe=recipe, seed=1)
        alone = sdc.assess(data, scenario=scenario)
    assert [said for said in alone.warnings if "'born' has 1100 different values" in said]
    assert not [said for said in beside.warnings if "different values" in said]


def test_the_original_as_collected_is_counted_where_a_key_was_recoded():
    rng = np.random.default_rng(8)
    people = pl.DataFrame({"age": rng.integers(20, 70, 300), "sex": rng.choice(["f", "m"], 300)})
    bands = people.with_columns(age=(pl.col("age") // 10 * 10).map_elements(lambda a: f"{a}-{a + 9}", pl.String))
    scenario = sdc.Scenario(keys=["age", "sex"], thresholds={"k": 7}, aligned=True)
    with quiet():
        coarse = sdc.assess(people, bands, scenario=scenario, seed=1)
        same = sdc.assess(people, people, scenario=scenario, seed=1)
    before = coarse.collected["default"]
    assert (before.k, before.below) == (7, sdc.k_anonymity(people, keys=["age", "sex"], k=[7]).violations[7])
    assert before.below > coarse.original["default"]["k_anonymity"].violations[7]
    assert coarse.to_dict()["collected"]["default"]["below"] == before.below
    assert same.collected == {}
