"""The rows of the room `attacks`: all that a scenario permits, the rest with a reason."""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.attacks.linkage import probabilistic_linkage as home
from sdckit.catalogue import CATALOGUE, row
from sdckit.catalogue.attacks import ATTACKS
from sdckit.cells.pair import open_pair
from sdckit.workflow.plan import carry_out, declared_knowledge, plan_attacks, shared_variables

EVERYBODY = releases.original(160)
ORIGINAL, CONTROL = EVERYBODY[:80], EVERYBODY[80:]
RELEASED = releases.release(ORIGINAL)
ALL = {
    "singling_out:univariate", "singling_out:multivariate", "membership", "distance_to_closest_record",
    "linkability:default", "inference:default:ill", "inference:default:income", "probabilistic_linkage:default",
}  # fmt: skip


def attacked(scenario: sdc.Scenario, control: Any = CONTROL, released: Any = RELEASED, n_attacks: int = 500) -> Any:
    columns = {"keys": scenario.all_keys, "more": ["ill", "income"]}
    pair = open_pair(ORIGINAL, released, control, categories=columns, aligned=scenario.aligned)
    known: dict[str, Any] = {
        "n": pair.n, "sizes": pair.sizes, "columns": frozenset(released.columns), "aligned": scenario.aligned,
        "pair": pair, "has_control": control is not None, "seed": 1,
    }  # fmt: skip
    variables = shared_variables(scenario, known["columns"])
    with quiet():
        knowledge = declared_knowledge(scenario, variables, n_attacks=n_attacks)
        made = carry_out(plan_attacks(scenario, knowledge, **known))
    return made.results, made.skipped, made


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "attacks") == ATTACKS
    assert len({row.name for row in ATTACKS}) == len(ATTACKS)


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
    monkeypatch.setattr(home, "ALL_PAIRS", 6_399)
    _, skipped, _ = attacked(releases.scenario())
    ((place, reason),) = skipped
    assert place == "probabilistic_linkage:default"
    assert reason.startswith("80 records make too many pairs to compare them all here")
    monkeypatch.setattr(home, "ALL_PAIRS", 6_400)
    assert attacked(releases.scenario())[1] == ()


def test_without_duckdb_linkage_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    found, skipped, _ = attacked(releases.scenario())
    assert set(found) == ALL - {"probabilistic_linkage:default"}
    assert "sdckit[linkage]" in dict(skipped)["probabilistic_linkage:default"]


def test_the_number_of_attempts_is_that_of_every_attack_that_draws() -> None:
    found, _, _ = attacked(releases.scenario(), n_attacks=30)
    drawn = [one for one in found.values() if hasattr(one, "n_attacks")]
    assert len(drawn) == 6
    assert {one.n_attacks for one in drawn} <= {30.0, *(one.n_attacks for one in drawn if one.n_attacks < 30)}
    assert found["membership"].n_attacks == found["inference:default:ill"].n_attacks == 30


def test_what_was_tried_in_vain_is_told_apart() -> None:
    strange = CONTROL.with_columns(ill=pl.lit(1))
    _, skipped, made = attacked(releases.scenario(sensitive=["ill", "job"]), control=strange)
    assert "inference:default:ill" in made.failed
    assert "inference:default:job" not in made.failed
    assert set(made.failed) < {place for place, _ in skipped}


def test_only_what_has_a_residual_risk_leaves_a_limit_on_it_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise sdc.DataError("odd")

    odd = ("probabilistic_linkage", "distance_to_closest_record", "linkability")
    monkeypatch.setattr(row, "public_function", lambda name: refuse if name in odd else getattr(sdc, name))
    _, skipped, made = attacked(releases.scenario())
    assert {place for place, reason in skipped if reason == "odd"} == {
        "probabilistic_linkage:default",
        "distance_to_closest_record",
        "linkability:default",
    }
    assert made.failed == ("linkability:default",)


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
    assert dict(skipped)["inference:default:job"] == "a release does not have the variable job"


def test_without_a_sensitive_variable_there_is_nothing_to_infer() -> None:
    found, skipped, _ = attacked(releases.scenario(sensitive=[]))
    assert not any(place.startswith("inference") for place in found)
    assert dict(skipped)["inference:default"] == "no sensitive variable is named"
