"""What will run and what will not is known before any file is read; what cannot run is told with its reason."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import releases
import sdckit as sdc
from draw import quiet
from further import FULL, assessed, survey
from sdckit.catalogue import further, measure, row as home
from sdckit.catalogue.identity import NOT_ALIGNED
from sdckit.cells.pair import open_pair
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.workflow.plan import (
    Outcome,
    attack_every_column,
    attack_parameters,
    attacked_columns,
    carry_out,
    chosen_measures,
    declared_knowledge,
    plan_attacks,
    plan_every_column,
    plan_file,
    plan_release,
    plan_utility,
    read_by_limits,
    shared_variables,
)

FURTHER = further()
COLUMNS = {"keys": ["sex", "age", "region"], "variables": ["ill", "income"]}

# --- further measures, by name ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ((), ()),
        ("all", FURTHER),
        (["risky_cells", "suda", "suda"], ("suda", "risky_cells")),
        (("all", "suda"), FURTHER),
    ],
)
def test_names_are_read(asked: Any, chosen: tuple[str, ...]) -> None:
    assert chosen_measures(asked) == chosen


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("sudda", "no further measure 'sudda'; did you mean 'suda'?"),
        (["outlier"], "did you mean 'outliers'?"),
        ("zzzzz", "there are: suda, population_risk"),
        ([3], "no further measure '3'"),
    ],
)
def test_a_name_that_does_not_exist(asked: Any, words: str) -> None:
    with pytest.raises(ScenarioError) as error:
        sdc.assess(survey(), keys=["sex"], measures=asked)
    assert words in str(error.value)


def test_nothing_further_runs_unasked() -> None:
    found = assessed(measures=())
    assert found.measures == ()
    assert not set(FURTHER) & set(found["default"])
    assert not set(FURTHER) & {name for name, _ in found["default"].skipped}


def test_only_what_is_named_runs() -> None:
    found = assessed(measures=["suda"])
    assert found.measures == ("suda",)
    assert "suda" in found["default"]
    assert found["default"].get("risky_cells") is None


def test_roles_that_are_absent_are_reasons() -> None:
    reasons = dict(assessed(keys=["sex", "age"])["default"].skipped)
    assert "neither a weight nor a sampling fraction" in reasons["population_risk"]
    assert "neither a weight nor a sampling fraction" in reasons["population_uniques"]
    assert "names no numeric variable" in reasons["outliers"]
    assert "names no sensitive variable" in reasons["t_closeness"]
    assert not {"suda", "risky_cells"} & reasons.keys()


def test_what_is_done_is_told() -> None:
    told: list[str] = []
    with quiet():
        sdc.assess(survey(), scenario=sdc.Scenario(**FULL), measures="all", step=told.append)
    for words in ("searching the special uniques of default", "key subsets of size 2", "looking for outliers"):
        assert words in told


def test_they_are_in_the_exact_dictionary() -> None:
    told = assessed().to_dict()["intruders"]["default"]["measures"]
    assert set(FURTHER) <= told.keys()
    assert told["suda"]["figures"]["msu_counts"]["1"] >= 0


# --- one file ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entries",
    [
        FULL,
        {"keys": ["sex"]},
        {"keys": ["sex", "age"], "person": "who"},
        {"intruders": {"a": ["sex"], "b": ["age", "job"]}},
    ],
)
def test_what_lacks_is_known_without_the_file(entries: Any) -> None:
    planned = plan_file(Scenario(**entries), measures=FURTHER)
    found = assessed(**entries)
    assert list(planned) == list(found)
    for name, ones in planned.items():
        skipped = dict(found[name].skipped)
        assert {one.place: one.lacks for one in ones if one.lacks}.items() <= skipped.items()
        assert {one.place for one in ones if not one.lacks} >= {place.partition(":")[0] for place in found[name]}


def test_without_an_essential_measure_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise DataError("odd")

    def outcome(name: str) -> Outcome:
        plan = plan_file(Scenario(keys=["sex", "age"]), measures=FURTHER, data=survey())["default"]
        monkeypatch.setattr(home, "public_function", lambda one: refuse if one == name else getattr(sdc, one))
        try:
            return carry_out(one for one in plan if one.row.name == name)
        finally:
            monkeypatch.undo()

    with pytest.raises(DataError, match="odd"):
        outcome("k_anonymity")
    assert outcome("risky_cells").skipped == (("risky_cells", "odd"),)
    assert measure("k_anonymity").essential


def test_a_column_that_is_not_there_is_no_reason_to_skip() -> None:
    with pytest.raises(ColumnError, match="no column 'nil'"), quiet():
        sdc.assess(survey(), keys=["sex"], sensitive=["nil"])


# --- a release beside its original ------------------------------------------------------------------


def run(*, aligned: bool = True, **options: Any) -> tuple[dict[str, Any], dict[str, str], list[str]]:
    pair = open_pair(releases.original(), releases.release(), categories=COLUMNS, aligned=aligned)
    told: list[str] = []
    known = {"columns": frozenset(pair.original.columns), "aligned": aligned, "seed": 1, "tell": told.append}
    plans = plan_release(releases.scenario(**options), n=pair.n, sizes=pair.sizes, pair=pair, **known)
    made = carry_out(plans["default"])
    return made.results, dict(made.skipped), told


def test_all_run_where_every_role_is_declared() -> None:
    found, skipped, told = run()
    assert skipped == {"robust_interval_risk": "the scenario names fewer than two numeric variables"}
    assert list(found) == [
        "matching_risk", "few_matches", "identity_disclosure", "record_linkage", "interval_risk",
        "correct_attribution_probability:ill", "correct_attribution_probability:income",
        "attribute_disclosure:ill", "attribute_disclosure:income", "prediction_risk:ill", "prediction_risk:income",
        "recoverable_values",
    ]  # fmt: skip
    assert len(told) >= len(found)  # what takes long tells more


def test_rows_that_do_not_belong_together_are_not_matched() -> None:
    found, skipped, _ = run(aligned=False)
    assert set(skipped) == {"matching_risk", "few_matches", "record_linkage", "interval_risk", "robust_interval_risk"}
    assert set(skipped.values()) == {NOT_ALIGNED}
    assert "identity_disclosure" in found


def test_roles_that_are_lacking_are_said() -> None:
    _, skipped, _ = run(sensitive=[], numeric=[])
    assert skipped["interval_risk"] == "the scenario names no numeric variable"
    assert skipped["attribute_disclosure"] == "no sensitive variable is named"


@pytest.mark.parametrize("options", [{}, {"sensitive": []}, {"numeric": []}, {"numeric": ["age", "income"]}])
@pytest.mark.parametrize("aligned", [True, False])
def test_what_is_lacking_is_known_without_the_files(options: Any, aligned: bool) -> None:
    found, skipped, _ = run(aligned=aligned, **options)
    planned = plan_release(releases.scenario(**options), aligned=aligned)["default"]
    assert {one.place: one.lacks for one in planned if one.lacks} == skipped
    assert {one.place for one in planned if not one.lacks} == set(found)


def test_one_bad_variable_does_not_stop_the_others() -> None:
    found, skipped, _ = run(sensitive=["ill", "sex"], keys=["age", "region"])
    assert "attribute_disclosure:ill" in found
    assert "attribute_disclosure:sex" in found
    assert list(skipped) == ["robust_interval_risk"]


def test_unchanged_keys_are_known_and_changed_ones_synthetic() -> None:
    found, _, _ = run()
    alone = sdc.matching_risk(
        releases.original(), releases.release(), known=["sex"], synthetic=["age", "region"], numeric=[]
    )
    assert found["matching_risk"].to_dict() == alone.to_dict()


def test_two_numbers_are_compared_robustly() -> None:
    found, skipped, _ = run(numeric=["income", "age"])
    assert "robust_interval_risk" in found
    assert not skipped


def test_a_variable_that_a_release_has_not_is_named() -> None:
    planned = plan_release(releases.scenario(), columns=frozenset(["sex", "age", "region", "ill"]), aligned=True)
    lacks = {one.place: one.lacks for one in planned["default"]}
    assert lacks["attribute_disclosure:income"] == "a release does not have the variable income"
    assert lacks["attribute_disclosure:ill"] == ""


def test_utility_is_planned_once_for_all_intruders() -> None:
    scenario = releases.scenario(keys=None, intruders={"a": ["sex"], "b": ["sex", "age"]})
    (planned,) = plan_utility(scenario, columns=frozenset(["sex", "age", "ill", "income"]))
    assert (planned.place, planned.lacks) == ("utility_overview", "")


# --- attacks ----------------------------------------------------------------------------------------


def test_the_columns_of_attacks_are_those_that_all_files_have() -> None:
    every = releases.release().columns
    assert shared_variables(releases.scenario(), every) == ("sex", "age", "region", "ill", "income")
    assert shared_variables(releases.scenario(sensitive=["job"], numeric=[]), every) == ("sex", "age", "region")


def test_attacks_that_need_no_intruder_are_planned_once() -> None:
    scenario = releases.scenario(keys=None, intruders={"a": ["sex", "age"], "b": ["sex", "region"]}, sensitive=["ill"])
    knowledge = declared_knowledge(scenario, ["sex", "age"], n_attacks=10)
    places = [one.place for one in plan_attacks(scenario, knowledge)]
    assert places == [
        "singling_out", "membership", "distance_to_closest_record",
        "linkability:a", "probabilistic_linkage:a", "inference:a:ill",
        "linkability:b", "probabilistic_linkage:b", "inference:b:ill",
    ]  # fmt: skip
    only = plan_attacks(scenario, knowledge, kinds=["membership", "inference"])
    assert [one.row.name for one in only] == ["membership", "inference", "inference"]


def test_attacks_with_every_column_need_no_intruder_and_have_places_of_their_own() -> None:
    planned = plan_every_column(releases.scenario(), ["sex", "pid"], numeric=["pid"], n_attacks=10)
    assert [attack.place for attack in planned] == [
        "singling_out:all",
        "membership:all",
        "distance_to_closest_record:all",
    ]
    assert [attack.lacks for attack in planned] == ["", "there is no control file", ""]
    many = plan_every_column(
        releases.scenario(), ["sex"], n_attacks=10, n=5_001, sizes=(5_000,), kinds=["distance_to_closest_record"]
    )
    assert "too many" in many[0].lacks
    declared = plan_attacks(
        releases.scenario(), declared_knowledge(releases.scenario(), ["sex"], n_attacks=1), n=5_001, sizes=(5_000,),
        kinds=["distance_to_closest_record"],
    )  # fmt: skip
    assert declared[0].lacks == ""


def test_columns_that_go_out_are_all_but_ids_and_weights() -> None:
    scenario = releases.scenario(
        keys=["sex"], sensitive=[], numeric=[], weight="w", identifiers=["name"], household="home"
    )
    columns = ["name", "pid", "w", "home", "opinion", "sex"]
    given = {"id": "pid"}
    chosen = attacked_columns(scenario, columns, [columns, ["sex", "opinion", "added"]], columns, **given)
    assert (chosen.declared, chosen.every, chosen.lacking, chosen.n_going_out) == (("sex",), ("sex", "opinion"), (), 3)
    lacking = attacked_columns(scenario, columns, [columns], ["sex"], **given)
    assert (lacking.every, lacking.lacking, lacking.n_going_out) == ((), ("opinion",), 2)
    alone = attacked_columns(scenario, columns, [columns], None, **given)
    assert (alone.every, alone.lacking, alone.n_going_out) == ((), (), 2)
    assert attacked_columns(scenario, columns, [["sex", "w"]], columns, **given).every == ()


def test_files_that_cannot_be_opened_leave_every_attack_open() -> None:
    def fails(_columns):
        raise ColumnError("no column")

    given = {"n_attacks": 10, "has_control": True}
    made = attack_every_column(releases.scenario(), ["sex"], fails, **given)
    assert made.results == {}
    assert made.failed == ("singling_out:all", "membership:all")
    assert {reason for _, reason in made.skipped} == {"no column"}


# What intruders know, and how attacks were asked for.


EVERYBODY = releases.original(160)
ORIGINAL, CONTROL = EVERYBODY[:80], EVERYBODY[80:]
RELEASED = releases.release(ORIGINAL)
ALL = {
    "singling_out:univariate", "singling_out:multivariate", "membership", "distance_to_closest_record",
    "linkability:default", "inference:default:ill", "inference:default:income", "probabilistic_linkage:default",
}  # fmt: skip

AGAIN = {
    "singling_out:univariate:all", "singling_out:multivariate:all", "membership:all", "distance_to_closest_record:all",
}  # fmt: skip

PLACES = ["singling_out:univariate", "linkability:default"]


def test_the_keys_are_known_and_halved_in_their_order() -> None:
    scenario = releases.scenario(keys=None, intruders={"a": ["sex"], "b": ["sex", "age", "region"]})
    knows = declared_knowledge(scenario, ["sex", "age"], n_attacks=30)
    assert (knows["a"].known, knows["a"].halves) == (("sex",), None)
    assert (knows["b"].known, knows["b"].halves) == (("sex", "age", "region"), (("sex", "age"), ("region",)))
    assert (knows["b"].variables, knows["b"].n_attacks) == (("sex", "age"), 30)
    assert knows["b"].numbers("age", "income") == {"numeric": ("income",)}
    nothing = declared_knowledge(releases.scenario(numeric=[]), ["sex"], n_attacks=1)["default"]
    assert nothing.numbers("age") == {}


def test_how_the_attacks_were_asked_for() -> None:
    with quiet():
        made = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL, n_attacks=30, seed=1)
    asked = made.attacks_asked
    assert asked.columns == ("sex", "age", "region", "ill", "income")
    assert asked.every_column == ("sex", "age", "region", "ill", "income", "pid", "w")
    assert asked.words == "with 5 and with 7 of 7 columns that go out"
    assert (asked.n_columns, asked.columns_at_once, asked.n_attacks, asked.seed) == (7, 3, 30, 1)
    assert asked.halves == {"default": (("sex", "age"), ("region",))}
    assert pickle.loads(pickle.dumps(asked)) == asked


def test_one_column_is_never_asked_for_with_others() -> None:
    knows = declared_knowledge(releases.scenario(keys=["sex"]), ["sex"], n_attacks=5)
    asked = attack_parameters(knows, PLACES, n_columns=None, seed=None)
    assert (asked.columns_at_once, asked.halves, asked.n_columns) == (None, {}, None)
    two = declared_knowledge(releases.scenario(keys=["sex", "age"]), ["sex", "age"], n_attacks=5)
    assert attack_parameters(two, PLACES, n_columns=2, seed=1).columns_at_once == 2
    assert attack_parameters(two, ["membership"], n_columns=2, seed=1).halves == {}


def test_assess_makes_them() -> None:
    with quiet():
        plain = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), seed=1)
        found = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL, seed=1)
        alone = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), attacks=True, seed=1)
        with pytest.raises(ColumnError, match="control file has no column 'sex'"):
            sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL.drop("sex"))
    assert (plain.attacks, plain.attacks_skipped, plain.control) == ({}, (), False)
    assert set(found.attacks) == ALL | AGAIN
    assert set(alone.attacks) == ALL - {"membership"}
    assert set(found.to_dict()["attacks"]) == ALL | AGAIN
    assert "membership" in found.details()["measure"].to_list()
    for more in ({"control": CONTROL}, {"attacks": True}, {"n_attacks": 10}):
        with pytest.raises(ScenarioError, match="give released="):
            sdc.assess(ORIGINAL, scenario=releases.scenario(), **more)
    with pytest.raises(DataError, match="n_attacks is how many attacks are made; give a whole number"):
        sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), attacks=True, n_attacks=0)


def test_people_of_the_original_in_the_control_file_are_warned_of() -> None:
    with pytest.warns(sdc.SdcWarning):
        found = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=ORIGINAL, seed=1)
    assert any("control file equal a record of the original" in text for text in found.warnings)


@pytest.mark.parametrize(("limits", "looked_for"), [({"k": 3}, True), ({"risk": 0.2}, False)])
def test_values_put_back_in_drawn_records_are_looked_for_where_k_is_declared(
    limits: dict[str, float], looked_for: bool
) -> None:
    scenario = Scenario(keys=["sex"], thresholds=limits)
    assert "recoverable_values" in read_by_limits(scenario)
    assert ("recoverable_values" in read_by_limits(scenario, drawn=True)) is looked_for
