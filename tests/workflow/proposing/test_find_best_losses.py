"""Releases ranked by pMSE, by a regression, by the caller's own measure: none of the combinations is better."""

from __future__ import annotations

from itertools import product

import pytest

import sdckit as sdc
from proposals import survey, trials
from sdckit.errors import ColumnError, DataError
from sdckit.workflow.proposing.find_best import measure_of, measured, ranked_by
from sdckit.workflow.proposing.search import Search

pytestmark = pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
FORMULA = "kids ~ age + sex"
ANY_MATCH = {"k": 3, "match_risk": 1.0}  # with few values left as they are, less is kept of any loss


def test_the_best_by_a_regression_is_the_best_of_all_combinations() -> None:
    data = survey(100)
    one = trials("one", data, share=1.0, keys=["age", "sex"], thresholds=ANY_MATCH)
    loss = measure_of("model", FORMULA, "linear", data, one.scenario)
    assert loss is not None
    every = {
        node: measured(loss, data, one.release(node)) for node in product(*map(range, one.shape)) if one.enough(node)
    }
    ranked = ranked_by(loss, one, Search(one, 10_000, 40).run(), lambda: False)
    assert ranked[0][0] == pytest.approx(min(every.values()))
    assert [value for value, _ in ranked] == pytest.approx([every[node] for _, node in ranked])
    found = sdc.propose(
        data, scenario=one.scenario, loss="model", formula=FORMULA, alternatives=0
    )  # fmt: skip
    assert found.measured == pytest.approx(min(every.values()))
    assert found.passed
    assert not found.optimal


def test_a_model_that_tells_the_release_from_the_file() -> None:
    data = survey(200)
    one = trials("one", data, share=1.0, thresholds=ANY_MATCH)
    loss = measure_of("pmse", None, "linear", data, one.scenario)
    assert loss is not None
    assert measured(loss, data, data) == pytest.approx(0.0)
    assert measured(loss, data, data.drop("sex")) == 0.25  # a key left out is not forgotten
    banded = sdc.recode(data, column="age", bands=[0, 40, None]).data
    assert measured(loss, data, banded) == 0.25
    found = sdc.propose(data, scenario=one.scenario, loss="pmse", alternatives=0)
    assert 0 < found.measured < 0.25
    assert found.measured == pytest.approx(
        measured(loss, data, found.recipe.apply(data, scenario=one.scenario, watch=False, seed=1).data), abs=1e-4
    )


def test_what_cannot_be_measured_comes_last() -> None:
    one = trials("one", share=1.0)
    ranked = ranked_by(
        lambda _, release: float("nan") if release["sex"].null_count() else 1.0,
        one,
        Search(one, 10_000, 40).run(),
        lambda: True,
    )
    assert ranked
    data = survey(100)
    assert measured(lambda *_: float("nan"), data, data) == float("inf")
    loss = measure_of("model", FORMULA, "linear", data, one.scenario)
    assert loss is not None
    assert measured(loss, data, data.drop("sex")) == float("inf")


def test_what_is_refused_before_any_search() -> None:
    one = trials("one").scenario
    data = survey(100)
    with pytest.raises(DataError, match="loss= is 'information'"):
        measure_of("auc", None, "linear", data, one)
    with pytest.raises(DataError, match="formula= go together"):
        measure_of("model", None, "linear", data, one)
    with pytest.raises(DataError, match="formula= go together"):
        measure_of("pmse", FORMULA, "linear", data, one)
    with pytest.raises(DataError, match="family"):
        measure_of("model", FORMULA, "probit", data, one)
    with pytest.raises(ColumnError, match="agee"):
        measure_of("model", "kids ~ agee", "linear", data, one)
    assert measure_of("information", None, "linear", data, one) is None


@pytest.mark.parametrize(("loss", "needed"), [("model", {"age", "sex"}), ("pmse", {"age", "sex", "area"})])
def test_releases_that_lack_what_a_measure_needs_are_not_made(loss: str, needed: set[str]) -> None:
    data = survey(100)
    one = trials("one", data, share=1.0, thresholds=ANY_MATCH)
    measure = measure_of(loss, FORMULA if loss == "model" else None, "linear", data, one.scenario)
    assert measure is not None
    found = Search(one, 10_000, 1).run()
    tried = set(one.made)
    assert ranked_by(measure, one, found, lambda: False)
    places = [j for j, ladder in enumerate(one.lattice.ladders) if ladder.key in needed]
    tops = [size - 1 for size in one.shape]
    new = set(one.made) - tried
    assert not [node for node in new if any(node[j] == tops[j] for j in places)]
