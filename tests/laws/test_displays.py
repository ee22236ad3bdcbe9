"""Everything public shows itself in a notebook: protected and without its repr, exact and marked only where asked."""

from __future__ import annotations

import inspect
import json
import re
import sys
import tempfile
from functools import cache
from typing import Any

import pytest

import every_measure
import sdckit as sdc
from sdckit.display import EXACT, Displayed

KEYS = every_measure.KEYS
SCENARIO = sdc.Scenario(keys=KEYS, sensitive=["ill"], weight="w", household_variables=[], thresholds={"k": 2})
# What is public and no result: classes of which notebooks hold no object of their own.
NO_RESULTS = {
    name for name in sdc.__all__ if inspect.isclass(one := getattr(sdc, name)) and issubclass(one, Exception)
} | {"PublishedTable", "RecipeLog"}  # what is given to a function, and shown by its repr alone


OTHERS = [
    "Scenario", "Recipe", "RoleGuesses", "Guess", "FileLabels", "ColumnLabels", "Protected", "Change", "Applied",
    "Exploration", "Assessment", "ReleaseAssessment", "CheckResult", "Canaries", "Cells", "Combined",
    "IntervalComparison", "CanaryExposure", "ReleaseLedger", "Domain", "DomainColumn", "MarginsChange", "BudgetLedger",
]  # fmt: skip


def ledger(data: Any) -> sdc.ReleaseLedger:
    with tempfile.TemporaryDirectory() as folder:
        empty = sdc.ReleaseLedger.create(f"{folder}/ledger", key=f"{folder}/ledger.key", survey="Survey")
        return empty.add(data, name="2024", keys=KEYS)


def budget() -> sdc.BudgetLedger:
    with tempfile.TemporaryDirectory() as folder:
        return sdc.BudgetLedger.create(f"{folder}/budget.toml", dataset="Survey", epsilon=3, delta=1e-6)


@cache
def made() -> dict[str, Any]:
    """One of every public class that is no measure's."""
    data, other = every_measure.people(1), every_measure.changed()
    recipe = sdc.Recipe([{"method": "local_suppression", "keys": KEYS, "k": 2}])
    guesses = sdc.guess_roles(data)
    labels = sdc.FileLabels({"sex": sdc.ColumnLabels("Sex <b>", {"m": 1, "refused": 9}, ((9, 9),))})
    domain = sdc.Domain((sdc.DomainColumn("sex", levels=("f", "m")),))
    rounded = sdc.synthesize_margins(data, domain=domain, protect="coarsen", base=10, cliques=[["sex"]])
    recoded = sdc.recode(data, column="income", bands=3)
    return {
        "Scenario": SCENARIO, "Recipe": recipe, "RoleGuesses": guesses, "Guess": guesses["sex"], "FileLabels": labels,
        "ColumnLabels": labels.get("sex"), "Protected": recoded, "Change": recoded.change,
        "Applied": recipe.apply(data, scenario=SCENARIO, seed=2**70),
        "Exploration": sdc.explore(data, recipe, grid={"local_suppression.k": [2, 3]}, scenario=SCENARIO, seed=2**70),
        "Assessment": sdc.assess(data, scenario=SCENARIO),
        "Proposal": sdc.propose(data, scenario=SCENARIO, alternatives=1),
        "StarterRecipe": sdc.starter_recipe(data, scenario=SCENARIO),
        "ReleaseAssessment": sdc.assess(data, other, scenario=SCENARIO, seed=1),
        "CheckResult": sdc.check(data, scenario=SCENARIO),
        "Canaries": sdc.canaries(data, n=10, variables=[*KEYS, "income"], seed=1),
        "Cells": sdc.as_cells(data, keys=KEYS), "ReleaseLedger": ledger(data),
        "Domain": domain, "DomainColumn": domain.columns[0], "MarginsChange": rounded.change, "BudgetLedger": budget(),
        "Combined": sdc.combine([1.0, 1.1, 0.9], [0.1, 0.1, 0.1], kind="partial"),
        "IntervalComparison": sdc.compare_intervals([(1.0, 2.0)], [(1.5, 2.5)]),
        "CanaryExposure": sdc.canaries(data, n=10, variables=[*KEYS, "income"], seed=1).exposure(other),
    }  # fmt: skip


@cache
def measured() -> dict[str, Any]:
    return {row.name: every_measure.call(row) for row in every_measure.CALLED}


def test_every_public_class_is_tried() -> None:
    public = {name for name in sdc.__all__ if inspect.isclass(getattr(sdc, name))} - NO_RESULTS
    tried = {type(one).__name__ for one in [*made().values(), *measured().values()]}
    assert public - tried == set()
    assert all(issubclass(getattr(sdc, name), Displayed) for name in public)


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
@pytest.mark.parametrize("name", [*(row.name for row in every_measure.CALLED), *OTHERS])
def test_it_shows_itself(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = (made() | measured())[name]
    html = one._repr_html_()
    assert re.match(r"\s*<(div|p)", html)
    assert EXACT not in html
    assert "<script" not in html
    assert "http" not in re.sub(r"http://www\.w3\.org/\S+", "", html)
    monkeypatch.setitem(sys.modules, "ipykernel", sys)
    bundle = one._repr_mimebundle_(include=None, exclude=None)
    assert bundle == {"text/html": html, "text/plain": f"<{type(one).__name__}, shown as HTML>"}
    with sdc.options(exact=True):
        exact = one._repr_html_()
        assert "text/plain" not in one._repr_mimebundle_()
    if name not in WITHOUT_FIGURES:
        assert EXACT in exact
        assert exact != html
    assert one._repr_html_() == html


WITHOUT_FIGURES = {
    "Scenario", "Recipe", "FileLabels", "ColumnLabels", "Canaries", "Cells", "ReleaseLedger", "Domain", "DomainColumn",
    "BudgetLedger", "MarginsChange",
}  # fmt: skip


def test_exact_figures_are_the_exact_ones() -> None:
    found = measured()["k_anonymity"]
    alone = found.violations[2]
    assert alone % 5  # the test can fail
    assert f">{alone}<" not in found._repr_html_()
    with sdc.options(exact=True):
        assert str(alone) in found._repr_html_()
        chart = json.dumps(found.plot().to_dict(), default=str)
    assert EXACT in chart
    assert f'"length": {alone}' in chart
    assert EXACT not in json.dumps(found.plot().to_dict(), default=str)


def test_documents_do_not_become_exact(tmp_path: Any) -> None:
    assessment = made()["Assessment"]
    assessment.to_json(tmp_path / "a.json")
    assessment.report(tmp_path / "a.html")
    change = made()["Change"].to_dict()
    with sdc.options(exact=True):
        assessment.to_json(tmp_path / "b.json")
        assessment.report(tmp_path / "b.html")
        assert made()["Change"].to_dict() == change
    for ending in ("json", "html"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_charts_of_maps_and_assessments_are_marked() -> None:
    for name in ("Exploration", "Assessment", "ReleaseAssessment"):
        with sdc.options(exact=True):
            assert EXACT in json.dumps(made()[name].plot().to_dict(), default=str)
        assert EXACT not in json.dumps(made()[name].plot().to_dict(), default=str)


def test_an_explanation_is_shown_only_where_exact_figures_are() -> None:
    found = measured()["explain"]
    assert str(found) not in found._repr_html_()
    with sdc.options(exact=True):
        assert EXACT in found._repr_html_()


def test_a_small_file_says_why_there_is_nothing() -> None:
    few = every_measure.people(1).head(20)
    recipe = sdc.Recipe([{"method": "local_suppression", "keys": KEYS, "k": 2}])
    for one in (
        recipe.apply(few, scenario=SCENARIO, seed=2**70), sdc.k_anonymity(few, keys=KEYS),
        sdc.explore(few, recipe, grid={"local_suppression.k": [2]}, scenario=SCENARIO, seed=2**70),
    ):  # fmt: skip
        assert "fewer than 50" in one._repr_html_()
        with sdc.options(exact=True):
            assert "fewer than 50" not in one._repr_html_()
