"""The log-linear model in a document: tau as rounded counts, the fit in words."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.fakes import survey
from report.special import KEYS, assessed, printed
from sdckit.report.blocks import Facts
from sdckit.report.gate.protect import protect
from sdckit.report.notebook import result_document, result_html
from sdckit.report.views.population_risk import FITTED, VIEW


@pytest.fixture(scope="module")
def assessment() -> Any:
    return assessed()


@pytest.fixture(scope="module")
def exact(assessment: Any) -> dict[str, Any]:
    return printed(assessment, internal=True)


@pytest.fixture(scope="module")
def plain(assessment: Any) -> dict[str, Any]:
    return printed(assessment)


def test_tau_is_exact_inside_and_rounded_outside(assessment: Any, exact: dict[str, Any], plain: dict[str, Any]) -> None:
    result = assessment.intruders[0]["population_risk"]
    assert exact["population_risk"]["tau1"]["value"] == pytest.approx(result.tau1)
    assert exact["population_risk"]["z2"] == pytest.approx(result.z2)
    for name in ("tau1", "tau2"):
        value = plain["population_risk"][name]["value"]
        assert value is None or value % 5 == 0
    assert "z2" not in plain["population_risk"]


def test_the_fit_is_told_in_words(assessment: Any, plain: dict[str, Any]) -> None:
    tree = plain["population_risk"]
    z2 = assessment.intruders[0]["population_risk"].z2
    words = "too simple" if z2 >= 1.645 else "overfitted" if z2 <= -1.645 else "no sign of misfit"
    assert words in tree["fit"]
    assert tree["model"] == KEYS
    assert "factor of 2 to 6" in plain["population_uniques"]["caution"]


def test_how_the_terms_were_chosen_is_told_in_words() -> None:
    data = pl.DataFrame(survey(300)).with_columns(twin=pl.col("occupation"))
    design = {"keys": ["occupation", "twin"], "sampling_fraction": 0.05}
    words = {
        "a forward search added pairs": {"select": True},
        "as asked for": {"interactions": 2},
        "taken as independent": {},
        "nothing to choose": {"sampling_fraction": 1.0},
    }
    for told, options in words.items():
        with quiet():
            result = sdc.population_risk(data, **(design | options))
        plain = protect(result_document(result))["population_risk"]
        assert told in plain["selection"]
    with quiet():
        loose = sdc.population_risk(data, keys=["sex", "age"], sampling_fraction=0.5, select=True)
    assert loose.path
    assert "left it at main effects" in protect(result_document(loose))["population_risk"]["selection"]


@pytest.mark.parametrize(
    ("method", "german"), [("ce", "Clogg und Eliason"), ("pml", "Pseudo"), ("weighted", "weiterer")]
)
def test_what_is_fitted_is_said_in_both_languages(method: Any, german: str) -> None:
    data = pl.DataFrame(survey(300)).with_columns(w=pl.lit(20.0), rank=pl.int_range(300) % 7)
    with quiet():
        keys = ["occupation", "rank"]
        result = sdc.population_risk(data, keys=keys, weight="w", method=method, linear=["rank"], bound=1)
    plain = protect(result_document(result))["population_risk"]
    assert plain["fitted_to"] == FITTED[method]
    assert "tau1_per_cell" not in plain
    page = result_html(result, exact=True, language="de")
    for words in (
        german,
        "Merkmale, die als Zahlen eingehen",
        "je Kombination von höchstens",
        "nicht beurteilt",
        "mit einem der Anzahlen",
    ):
        assert words in page
    assert FITTED[method] not in page
    assert "No model fits" not in result_html(result)


def test_how_the_model_was_chosen_is_told(plain: dict[str, Any]) -> None:
    facts = next(block for block in VIEW.blocks(plain, "population_risk") if isinstance(block, Facts))
    assert "forward search" in dict(facts.items)["How the model was chosen"]
