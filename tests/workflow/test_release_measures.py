"""Which measures of two files run, and why the others do not."""

from __future__ import annotations

import pytest
from sdckit.workflow.release_measures import release_measures, what_is_lacking

import releases
from sdckit.cells.pair import open_pair
from sdckit.workflow import release_measures as module

COLUMNS = {"keys": ["sex", "age", "region"], "variables": ["ill", "income"]}


def run(aligned=True, **options):
    pair = open_pair(releases.original(), releases.release(), categories=COLUMNS, aligned=aligned)
    told = []
    found, skipped = release_measures(pair, releases.scenario(**options), told.append, seed=1)
    return found, dict(skipped), told


def test_all_run_where_every_role_is_declared():
    found, skipped, told = run()
    assert skipped == {"robust_interval_risk": "the scenario names fewer than two numeric variables"}
    assert list(found) == [
        "matching_risk", "identity_disclosure", "record_linkage", "interval_risk",
        "correct_attribution_probability:ill", "attribute_disclosure:ill", "prediction_risk:ill",
        "correct_attribution_probability:income", "attribute_disclosure:income", "prediction_risk:income",
    ]  # fmt: skip
    assert len(told) == len(found)


def test_rows_that_do_not_belong_together_are_not_matched():
    found, skipped, _ = run(aligned=False)
    assert set(skipped) == {"matching_risk", "record_linkage", "interval_risk", "robust_interval_risk"}
    assert "identity_disclosure" in found


def test_roles_that_are_lacking_are_said():
    _, skipped, _ = run(sensitive=[], numeric=[])
    assert skipped["interval_risk"] == module.NO_NUMERIC
    assert skipped["attribute_disclosure"] == module.NO_SENSITIVE


@pytest.mark.parametrize("options", [{}, {"sensitive": []}, {"numeric": []}, {"numeric": ["age", "income"]}])
@pytest.mark.parametrize("aligned", [True, False])
def test_what_is_lacking_is_known_without_the_files(options, aligned):
    found, skipped, _ = run(aligned, **options)
    lacks = what_is_lacking(releases.scenario(**options), aligned=aligned)
    assert {name: reason for name, reason in lacks.items() if reason} == skipped
    assert {name for name, reason in lacks.items() if not reason} == {
        name.partition(":")[0] for name in found
    }


def test_a_search_too_long_is_left_to_the_analyst(monkeypatch):
    monkeypatch.setattr(module, "MOST_DISTANCES", 10)
    _, skipped, _ = run()
    assert "240 records are too many" in skipped["record_linkage"]


def test_one_bad_variable_does_not_stop_the_others():
    found, skipped, _ = run(sensitive=["ill", "sex"], keys=["age", "region"])
    assert "attribute_disclosure:ill" in found
    assert "attribute_disclosure:sex" in found
    assert list(skipped) == ["robust_interval_risk"]


def test_unchanged_keys_are_known_and_changed_ones_synthetic():
    found, _, _ = run()
    assert "sex" in repr(found["matching_risk"].notes) or found["matching_risk"].n == releases.N


def test_two_numbers_are_compared_robustly():
    found, skipped, _ = run(numeric=["income", "age"])
    assert "robust_interval_risk" in found
    assert not skipped
