"""The attacks of an assessment: all that the scenario permits, the rest with a reason."""

from __future__ import annotations

import pickle
import sys

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.cells.pair import open_pair
from sdckit.errors import ColumnError, DataError, ScenarioError
from sdckit.workflow import release_attacks as home
from sdckit.workflow.release_attacks import attacked_columns, check_control, release_attacks

EVERYBODY = releases.original(160)
ORIGINAL, CONTROL = EVERYBODY[:80], EVERYBODY[80:]
RELEASED = releases.release(ORIGINAL)
ALL = {
    "singling_out:univariate", "singling_out:multivariate", "membership", "distance_to_closest_record",
    "linkability:default", "inference:default:ill", "inference:default:income", "probabilistic_linkage:default",
}  # fmt: skip


def attacked(scenario: sdc.Scenario, control=CONTROL, released=RELEASED, **options):
    columns = {"keys": scenario.all_keys, "more": ["ill", "income"]}
    pair = open_pair(ORIGINAL, released, categories=columns, aligned=scenario.aligned)
    with quiet():
        made = release_attacks(pair, scenario, lambda _: None, control=control, seed=1, **options)
    return made.results, made.skipped, made


def test_with_a_control_file_everything_runs() -> None:
    found, skipped, _ = attacked(releases.scenario())
    assert (set(found), skipped) == (ALL, ())
    alone = sdc.inference(
        ORIGINAL, RELEASED, control=CONTROL, known=["sex", "age", "region"], target="ill", numeric=[], seed=1
    )
    assert found["inference:default:ill"].to_dict() == alone.to_dict()
    linked = sdc.linkability(
        ORIGINAL, RELEASED, control=CONTROL, known=(["sex", "age"], ["region"]), numeric=[], seed=1
    )
    assert found["linkability:default"].to_dict() == linked.to_dict()
    keys = ["sex", "age", "region"]
    weighed = sdc.probabilistic_linkage(ORIGINAL, RELEASED, variables=keys, numeric=[], seed=1)
    assert found["probabilistic_linkage:default"].to_dict() == weighed.to_dict()
    levels = found["probabilistic_linkage:default"].levels
    assert levels["agreement"].to_list() == weighed.levels["agreement"].to_list()  # of age: no near numbers


def test_linkage_runs_where_rows_correspond_and_pairs_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    found, skipped, _ = attacked(releases.scenario(aligned=False))
    assert set(found) == ALL - {"probabilistic_linkage:default"}
    assert "not declared to come from row i" in dict(skipped)["probabilistic_linkage:default"]
    monkeypatch.setattr(home, "MOST_PAIRS", 6_399)
    _, skipped, _ = attacked(releases.scenario())
    ((place, reason),) = skipped
    assert place == "probabilistic_linkage:default"
    assert reason.startswith("80 records make too many pairs to compare them all here")
    monkeypatch.setattr(home, "MOST_PAIRS", 6_400)
    assert attacked(releases.scenario())[1] == ()


def test_without_splink_linkage_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "splink", None)
    found, skipped, _ = attacked(releases.scenario())
    assert set(found) == ALL - {"probabilistic_linkage:default"}
    assert "sdckit[linkage]" in dict(skipped)["probabilistic_linkage:default"]


def test_the_number_of_attempts_is_that_of_every_attack_that_draws() -> None:
    found, _, _ = attacked(releases.scenario(), n_attacks=30)
    drawn = [one for one in found.values() if hasattr(one, "n_attacks")]
    assert len(drawn) == 6
    assert {one.n_attacks for one in drawn} <= {30.0, *(one.n_attacks for one in drawn if one.n_attacks < 30)}
    assert found["membership"].n_attacks == found["inference:default:ill"].n_attacks == 30


def test_how_the_attacks_were_asked_for() -> None:
    _, _, made = attacked(releases.scenario(), n_attacks=30)
    asked = made.asked
    assert asked.columns == ("sex", "age", "region", "ill", "income")
    assert (asked.n_columns, asked.columns_at_once, asked.n_attacks, asked.seed) == (7, 3, 30, 1)
    assert asked.halves == {"default": (("sex", "age"), ("region",))}
    assert pickle.loads(pickle.dumps(asked)) == asked


def test_what_was_tried_in_vain_is_told_apart() -> None:
    strange = CONTROL.with_columns(ill=pl.lit(1))
    _, skipped, made = attacked(releases.scenario(sensitive=["ill", "job"]), control=strange)
    assert "inference:default:ill" in made.failed
    assert "inference:default:job" not in made.failed
    assert set(made.failed) < {place for place, _ in skipped}


def test_without_one_membership_is_left_out_with_the_reason() -> None:
    found, skipped, _ = attacked(releases.scenario(), control=None)
    assert set(found) == ALL - {"membership"}
    assert skipped == (("membership", "there is no control file"),)


def test_intruders_have_attacks_of_their_own() -> None:
    two = {"a": ["sex"], "b": ["sex", "age"]}
    found, skipped, _ = attacked(releases.scenario(keys=None, intruders=two, sensitive=["ill"], numeric=[]))
    assert {"inference:a:ill", "inference:b:ill", "linkability:b"} <= set(found)
    one_key = "there is only one key"
    assert skipped == (("linkability:a", one_key), ("probabilistic_linkage:a", one_key))
    assert "probabilistic_linkage:b" in found


def test_what_cannot_be_attacked_is_said() -> None:
    scenario = releases.scenario(sensitive=["ill", "job"], numeric=["income"])
    found, skipped, _ = attacked(scenario, released=RELEASED.with_columns(region=None))
    assert "inference:default:ill" in found
    assert dict(skipped)["inference:default:job"] == "a release does not have the variable"


def test_a_control_file_needs_the_columns() -> None:
    pair = open_pair(ORIGINAL, RELEASED, categories={"keys": ["sex", "age", "region"]})
    names = attacked_columns(pair, releases.scenario())
    assert names == ("sex", "age", "region", "ill", "income")
    assert attacked_columns(pair, releases.scenario(sensitive=["job"], numeric=[])) == (
        "sex",
        "age",
        "region",
    )
    check_control(CONTROL, names)
    with pytest.raises(ColumnError, match="control file has no column 'region'"):
        check_control(CONTROL.drop("region"), names)


def test_assess_makes_them() -> None:
    with quiet():
        plain = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), seed=1)
        found = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL, seed=1)
        alone = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), attacks=True, seed=1)
        with pytest.raises(ColumnError, match="control file has no column 'sex'"):
            sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=CONTROL.drop("sex"))
    assert (plain.attacks, plain.attacks_skipped, plain.control) == ({}, (), False)
    assert set(found.attacks) == ALL
    assert set(alone.attacks) == ALL - {"membership"}
    assert set(found.to_dict()["attacks"]) == ALL
    assert "membership" in found.summary()["measure"].to_list()
    for more in ({"control": CONTROL}, {"attacks": True}, {"n_attacks": 10}):
        with pytest.raises(ScenarioError, match="give released="):
            sdc.assess(ORIGINAL, scenario=releases.scenario(), **more)
    with pytest.raises(DataError, match=r"n_attacks is how many .* a whole number of 1 or more"):
        sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), attacks=True, n_attacks=0)


def test_people_of_the_original_in_the_control_file_are_warned_of() -> None:
    with pytest.warns(sdc.SdcWarning):
        found = sdc.assess(ORIGINAL, RELEASED, scenario=releases.scenario(), control=ORIGINAL, seed=1)
    assert any("control file equal a record of the original" in text for text in found.warnings)
