"""Utility as typed figures: shares that stand for records are printed like records."""

from __future__ import annotations

import pytest

import releases
import sdckit as sdc
from draw import quiet
from sdckit.cells.pair import open_pair
from sdckit.report.release_document import plain_release
from sdckit.report.sections_utility import tells_few


def plain_of(**options):
    with quiet():
        found = sdc.assess(
            releases.original(), releases.release(), scenario=releases.scenario(), seed=1, **options
        )
    return found, plain_release(found)


@pytest.fixture(scope="module")
def both():
    return plain_of(models={"income ~ age": "linear", "ill ~ age": "logistic"})


def test_the_overview_in_two_digits(both):
    found, plain = both
    rows = {row["name"]: row for row in plain["utility"]["table"]}
    assert rows["auc"]["value"]["value"] == pytest.approx(found.utility.auc, rel=0.06)
    assert all(len(row["value"]["text"].lstrip("-<0.").replace(",", "")) <= 4 for row in rows.values())


def test_shares_of_records_are_rounded_as_records(both):
    found, plain = both
    n = found.n
    for name, leaf in plain["utility"]["variables"].items():
        moved = found.utility.results["compare_distributions"].total_variation[name] * n
        if 0 < moved < 5:
            assert leaf["value"] is None
        elif moved:
            assert abs(leaf["value"] * n - moved) <= 5


def test_models_have_their_coefficients(both):
    _, plain = both
    formulas = [model["formula"] for model in plain["utility"]["models"]]
    assert formulas == ["income ~ age", "ill ~ age"]
    assert [row["term"] for row in plain["utility"]["models"][0]["terms"]] == ["Intercept", "age"]
    assert plain["utility"]["models"][1]["family"] == "logistic"


def test_without_utility_the_reason_stands_there(monkeypatch):
    import sdckit.workflow.assess_release as module
    from sdckit.errors import DataError

    def refuse(*_, **__):
        raise DataError("nothing in common")

    monkeypatch.setattr(module, "utility_overview", refuse)
    found, plain = plain_of()
    assert found.utility is None
    assert plain["utility"]["skipped"][0]["reason"] == "nothing in common"


COMMON = {"north", "west", "m", "30"}


def test_a_product_of_categories_may_hold_one_person():
    pair = open_pair(releases.original(), releases.release(), categories={"keys": ["sex", "age", "region"]})
    assert not tells_few(["Intercept", "C(region)[T.north]", "sex[T.m]:age"], pair, COMMON)
    assert tells_few(["sex[T.m]:C(age)[T.30]:region[T.west]"], pair, COMMON)
    assert tells_few(["unknown(region)[T.west]"], pair, COMMON)
    assert tells_few(["bishop: age"], pair, COMMON)
