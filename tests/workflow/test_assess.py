"""`assess`: every measure that the roles permit, a reason for every one that did not run, and its warnings."""

from __future__ import annotations

import warnings
from typing import Any

import narwhals as nw
import polars as pl
import pyarrow as pa
import pytest

import sdckit as sdc
from draw import quiet
from plans import ENGINES, duckdb_relation, on_engines, on_frames, polars_plan
from sdckit.cells.plans import lazy
from sdckit.errors import ColumnError, DataError, ScenarioError, SdcWarning
from sdckit.workflow import assess as module

FRAME = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "m", "m", "m", "f", "m"],
        "age": [30, 30, 41, 41, 30, None, 41, 41],
        "job": ["a", None, "a", "b", "b", "b", None, "a"],
        "ill": ["p", "q", "p", "q", "p", "q", "p", "q"],
        "rich": ["y", "y", "n", "n", "y", None, "y", "y"],
        "home": [1, 1, 2, 2, 3, 3, 4, 4],
        "who": [1, 2, 3, 4, 5, 6, 7, 8],
        "w": [10.0, 20.0, 30.0, 40.0, 10.0, 20.0, 30.0, 40.0],
    }
)


def assessed(data: Any = FRAME, **entries: Any) -> sdc.Assessment:
    with quiet():
        return sdc.assess(data, scenario=sdc.Scenario(**{"keys": ["sex", "age"], **entries}))


# --- what runs --------------------------------------------------------------------------------------


def test_every_measure_of_a_full_scenario():
    found = assessed(weight="w", household="home", sensitive=["ill", "rich"])["default"]
    assert found.skipped == ()
    assert list(found) == [
        "key_frequencies", "key_frequencies:category", "k_anonymity:category", "k_anonymity",
        "individual_risk:category", "individual_risk", "key_contributions", "household_structure", "l_diversity",
        "l_diversity:wildcard",
    ]  # fmt: skip
    assert found["household_structure"].n_households == 4
    assert found["l_diversity"].variables == ("ill", "rich")


def test_each_measure_says_what_it_says_alone():
    entries = {"keys": ["sex", "age"], "weight": "w", "household": "home", "sensitive": ["ill"]}
    found = assessed(**entries)["default"]
    scenario = sdc.Scenario(**entries)
    with quiet():
        for name, measure in (
            ("key_frequencies", sdc.key_frequencies),
            ("individual_risk", sdc.individual_risk),
            ("household_structure", sdc.household_structure),
            ("l_diversity", sdc.l_diversity),
        ):
            assert found[name].to_dict() == measure(FRAME, scenario=scenario).to_dict(), name
        for name, measure in (
            ("key_frequencies:category", sdc.key_frequencies),
            ("k_anonymity:category", sdc.k_anonymity),
        ):
            alone = measure(FRAME, scenario=scenario, missing="category")
            assert found[name].to_dict() == alone.to_dict(), name
        by_wildcard = sdc.l_diversity(FRAME, scenario=scenario, missing="wildcard")
    assert found["l_diversity:wildcard"].to_dict() == by_wildcard.to_dict()
    assert found["key_frequencies"].to_dict() != found["key_frequencies:category"].to_dict()


def test_what_did_not_run_says_why():
    found = assessed(keys=["sex"])["default"]
    assert dict(found.skipped) == {
        "household_structure": "the scenario names no household column",
        "l_diversity": "the scenario names no sensitive variable",
        "key_contributions": "there is only one key",
    }
    assert found.get("household_structure") is found.get("l_diversity") is found.get("key_contributions") is None
    assert (
        found.get("key_frequencies:category")
        is found.get("k_anonymity:category")
        is found.get("individual_risk:category")
        is None
    )


def test_persons_are_not_counted_from_cells():
    found = assessed(keys=["sex", "job"], person="who", missing="category")["default"]
    assert dict(found.skipped)["key_contributions"] == "distinct persons cannot be counted from cells"


@on_engines
def test_what_a_plan_cannot_do(plan, monkeypatch):
    entries = {"household": "home", "sensitive": ["ill"], "thresholds": {"l": 2}}
    assert assessed(plan(FRAME), **entries)["default"].skipped == ()
    monkeypatch.setattr(lazy, "COLLECT_LIMIT", 5)
    found = assessed(plan(FRAME), **entries)["default"]
    assert [name for name, _ in found.skipped] == ["household_structure"]
    assert "too much from a plan" in dict(found.skipped)["household_structure"]
    assert found.get("l_diversity:wildcard") is not None


def test_rules_per_key():
    found = assessed(keys=["age", "job"], missing={"job": "category"}, weight="w")["default"]
    assert [(fact.name, fact.rule, fact.n_missing) for fact in found.key_facts] == [
        ("age", "wildcard", 1),
        ("job", "category", 2),
    ]
    assert found.get("key_frequencies:category") is not None  # age is a wildcard somewhere
    found = assessed(keys=["age", "job"], missing="category")["default"]
    assert found.get("key_frequencies:category") is None
    found = assessed(keys=["sex", "job"], missing={"job": "category"})["default"]
    assert found.get("key_frequencies:category") is None  # sex is never missing
    with pytest.raises(DataError, match="key 'job' is missing in 2 records"):
        assessed(keys=["age", "job"], missing={"job": "error"})


def test_the_levels_tested_follow_the_thresholds():
    found = assessed(sensitive=["ill"], thresholds={"k": 4, "l": 5, "risk": 0.4})["default"]
    assert sorted(found["k_anonymity"].violations) == [2, 3, 4, 5]
    assert sorted(found["k_anonymity:category"].violations) == [2, 3, 4, 5]
    assert sorted(found["l_diversity"].violations["ill"]["distinct"]) == [2, 3, 5]
    assert found["individual_risk"].threshold == found["individual_risk:category"].threshold == 0.4


def test_key_facts():
    found = assessed(keys=["sex", "age"])["default"]
    sex, age = found.key_facts
    assert (sex.level_counts, sex.n_levels, sex.large_levels) == ((("f", 4), ("m", 4)), 2, 0)
    assert (age.kind, age.level_counts, age.n_missing) == ("integer", (("41", 4), ("30", 3)), 1)


# --- intruders and verdicts -------------------------------------------------------------------------


def test_several_intruders():
    both = {"intruders": {"boss": ["job"], "friend": ["sex", "age"]}, "keys": None}
    found = assessed(thresholds={"k": 2, "household_risk": 0.5}, missing={"job": "category"}, **both)
    assert [one.name for one in found.intruders] == ["boss", "friend"]
    assert [(verdict.intruder, verdict.name) for verdict in found.verdicts] == [
        ("boss", "k"), ("boss", "household_risk"), ("friend", "k"), ("friend", "household_risk"),
    ]  # fmt: skip
    assert [verdict.holds for verdict in found.verdicts] == [True, None, True, None]
    assert found["boss"].get("key_frequencies:category") is None
    assert found["friend"].get("key_frequencies:category") is not None


def test_the_reason_why_l_was_not_judged():
    (verdict,) = assessed(thresholds={"l": 2}).verdicts
    assert (verdict.holds, verdict.reason) == (None, "the scenario names no sensitive variable")


def test_a_sensitive_variable_without_any_value_is_not_judged():
    frame = FRAME.with_columns(empty=pl.Series([None] * 8, dtype=pl.String), void=pl.Series([None] * 8, dtype=pl.Int64))
    found = assessed(frame, keys=["sex"], sensitive=["empty", "ill"], thresholds={"l": 2})
    assert [(one.variable, one.holds) for one in found.verdicts] == [("empty", None), ("ill", True)]
    assert "sensitive variable 'empty' has no value in any record" in found.verdicts[0].reason
    assert found.passed is None
    assert found["default"]["l_diversity"].variables == ("ill",)
    assert "'empty' has no value" in dict(found["default"].skipped)["l_diversity"]
    found = assessed(frame, keys=["sex"], sensitive=["empty", "void"], thresholds={"l": 2})
    assert found["default"].get("l_diversity") is None
    assert [(one.variable, one.holds) for one in found.verdicts] == [("empty", None), ("void", None)]
    assert "'empty'" in found.verdicts[0].reason
    assert "'void'" in found.verdicts[1].reason


def test_one_measure_refuses_several_intruders():
    two = sdc.Scenario(intruders={"boss": ["job"], "friend": ["sex", "age"]})
    for measure in (sdc.key_frequencies, sdc.k_anonymity, sdc.individual_risk, sdc.key_contributions):
        with pytest.raises(ScenarioError, match=r"several intruders \('boss', 'friend'\); choose one with .intruder"):
            measure(FRAME, scenario=two)
    assert sdc.k_anonymity(FRAME, scenario=two.intruder("boss"), missing="category").level == 2


# --- roles by keyword, and what contradicts itself --------------------------------------------------


def test_roles_by_keyword():
    with quiet():
        found = sdc.assess(FRAME, keys=["sex", "age"], weight="w", household="home", sensitive=["ill", "rich"])
    assert found.scenario == sdc.Scenario(keys=["sex", "age"], weight="w", household="home", sensitive=["ill", "rich"])
    same = assessed(weight="w", household="home", sensitive=["ill", "rich"])
    assert found.to_dict()["intruders"] == same.to_dict()["intruders"]
    with quiet():
        assert sdc.assess(FRAME, keys=["sex"], sampling_fraction=0.5)["default"]["individual_risk"].global_risk < 0.25
        persons = sdc.assess(FRAME, keys=["sex"], person="who")
    assert persons.scenario.person == "who"


def test_one_sensitive_variable_by_its_name():
    assert sdc.assess(FRAME, keys=["sex"], sensitive="ill").scenario.sensitive == ("ill",)


def test_a_release_of_which_every_key_was_left_out_is_refused_by_itself():
    left = sdc.Scenario(keys=["sex"], sensitive=["ill"]).of_release(["ill"])
    with pytest.raises(ScenarioError, match=r"^no key of any intruder is left in the file, .*beside its original$"):
        sdc.assess(pl.DataFrame({"ill": ["no", "yes"] * 9}), scenario=left)


def test_neither_scenario_nor_keys():
    for given in ({}, {"weight": "w"}):
        with pytest.raises(ScenarioError, match=r"which variables an intruder knows: scenario= or keys=\[...\]"):
            sdc.assess(FRAME, **given)


def test_both_scenario_and_roles():
    scenario = sdc.Scenario(keys=["sex"])
    for given, words in (
        ({"keys": ["sex"]}, "keys and scenario= are both given"),
        ({"weight": "w", "sensitive": ["ill"]}, "weight, sensitive and scenario= are both given"),
    ):
        with pytest.raises(ScenarioError, match=words):
            sdc.assess(FRAME, scenario=scenario, **given)


def test_what_is_no_scenario():
    with pytest.raises(ScenarioError, match=r"scenario= takes a Scenario; read one from a file by Scenario.from_toml"):
        sdc.assess(FRAME, scenario="scenario.toml")


def test_what_is_no_frame_or_has_no_such_column():
    with pytest.raises(DataError, match="list is not a data frame"):
        sdc.assess([1, 2], keys=["sex"])
    with pytest.raises(ColumnError, match="keys: no column 'sexe' in the data; did you mean 'sex'"):
        sdc.assess(FRAME, keys=["sexe"])
    with pytest.raises(DataError, match="the data has no records"):
        sdc.assess(FRAME.clear(), keys=["sex"])


# --- warnings and steps -----------------------------------------------------------------------------


def test_a_warning_is_told_once_and_kept():
    both = {"boss": ["sex", "who"], "friend": ["who", "age"]}
    frame = FRAME.with_columns(home=pl.Series([1, None, 2, 2, None, 3, 4, 4]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = sdc.assess(frame, scenario=sdc.Scenario(intruders=both, household="home"))
    told = [str(one.message) for one in caught]
    assert (
        told
        == list(found.warnings)
        == [
            "key 'who' is different for every record: is it an identifier?",
            "2 records have no household id in 'home': each is a household of its own",
        ]
    )
    assert {one.category for one in caught} == {SdcWarning}
    assert {one.filename for one in caught} == {__file__}


def test_a_warning_is_kept_where_warnings_are_silenced():
    with quiet():
        assert len(sdc.assess(FRAME, keys=["who", "sex"]).warnings) == 1
    assert sdc.assess(FRAME, keys=["sex"]).warnings == ()


def test_warnings_of_a_plan():
    with pytest.warns(SdcWarning, match="key 'who' is different for every record"):
        found = sdc.assess(FRAME.lazy(), keys=["who", "sex"])
    assert len(found.warnings) == 1


def test_steps_are_told_in_order():
    told: list[str] = []
    scenario = sdc.Scenario(intruders={"boss": ["sex"], "friend": ["sex", "age"]})
    sdc.assess(FRAME, scenario=scenario, step=told.append)
    assert told == [
        words.format(name)
        for name in ("boss", "friend")
        for words in (
            "tabulating the keys of {}",
            "counting the keys of {}",
            "looking for rare keys of {}",
            "estimating the risk from {}",
            "leaving out the keys of {} one by one",
        )
        if (name, words) != ("boss", "leaving out the keys of {} one by one")  # there is only one
    ]


# --- engines ----------------------------------------------------------------------------------------


@on_frames
def test_the_same_figures_on_every_engine(make):
    entries = {"weight": "w", "household": "home", "sensitive": ["ill"], "thresholds": {"k": 3, "risk": 0.02, "l": 2}}
    here, there = assessed(**entries), assessed(make(FRAME), **entries)
    left, right = (one.to_dict()["intruders"]["default"] for one in (here, there))
    assert left["verdicts"] == right["verdicts"]
    for name in set(left["measures"]) - {"l_diversity:wildcard"}:
        flat = [dict(one["default"][name]._flat()) for one in (here, there)]
        assert flat[1] == pytest.approx(flat[0], rel=1e-12, nan_ok=True), name
    assert there.n == 8


def test_a_frame_of_every_engine_is_named():
    assert {name: assessed(make(FRAME)).engine for name, make in ENGINES.items()} == {
        "polars": "polars", "pandas": "pandas", "pyarrow": "pyarrow", "polars-lazy": "polars", "duckdb": "duckdb",
    }  # fmt: skip


@on_frames
def test_the_summary_is_a_frame_of_the_caller(make):
    found = assessed(make(FRAME), sensitive=["ill"]).details()
    expected = pa.Table if make in {polars_plan, duckdb_relation} else type(make(FRAME))
    assert isinstance(found, expected)
    columns = nw.from_native(found, eager_only=True)
    assert columns.columns == ["intruder", "measure", "figure", "value"]
    rows = {row[1:3]: row[3] for row in columns.rows()}
    assert rows["key_frequencies", "n"] == 8
    assert rows["l_diversity", "level[ill][distinct]"] == 1


def test_it_is_the_door_of_the_package():
    assert sdc.assess is module.assess
