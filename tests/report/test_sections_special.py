"""The measures run on request, as typed figures: what is exact inside, what is printed outside."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from report.fakes import survey
from sdckit.data.scenario import Scenario
from sdckit.report.document import build_document
from sdckit.report.notebook import result_document
from sdckit.report.protect import protect

KEYS = ["sex", "age", "region", "occupation"]
EXTRA = ("suda", "population_risk", "population_uniques", "risky_cells", "outliers")


def assessed(n: int = 600, *, missing: float = 0.0, measures: Any = "all", **roles: Any) -> Any:
    rows = survey(n, missing=missing)
    scenario = Scenario(**{"keys": KEYS, "sampling_fraction": 0.05, "numeric": ["weight"]} | roles)
    with quiet():
        return sdc.assess(pl.DataFrame(rows), scenario=scenario, measures=measures)


@pytest.fixture(scope="module")
def assessment() -> Any:
    return assessed()


@pytest.fixture(scope="module")
def exact(assessment: Any) -> dict[str, Any]:
    found: dict[str, Any] = protect(build_document(assessment, internal=True), internal=True)["intruders"][0]
    return found


@pytest.fixture(scope="module")
def plain(assessment: Any) -> dict[str, Any]:
    found: dict[str, Any] = protect(build_document(assessment))["intruders"][0]
    return found


def test_they_appear_only_if_computed(plain: dict[str, Any]) -> None:
    assert set(EXTRA) <= plain.keys()
    one = protect(build_document(assessed(measures="suda")))["intruders"][0]
    assert set(EXTRA) & one.keys() == {"suda"}


def test_inside_the_figures_are_those_of_the_session(assessment: Any, exact: dict[str, Any]) -> None:
    one = assessment.intruders[0]
    sizes = {size: leaf["value"] for size, leaf in exact["suda"]["msu_counts"].items()}
    assert sizes == {str(size): n for size, n in one.suda.msu_counts.items()}
    assert exact["suda"]["pairs"]["value"] == one.suda.pairs
    assert exact["suda"]["dis"]["value"] == pytest.approx(one.suda.dis, rel=0.05)
    parts = {key: leaf["value"] for key, leaf in exact["suda"]["contributions"].items()}
    assert parts == one.suda.contributions
    assert exact["population_risk"]["tau1"]["value"] == pytest.approx(one.population_risk.tau1)
    zayatz = exact["population_uniques"]["estimates"]["zayatz"]["uniques"]["value"]
    assert zayatz == pytest.approx(one.population_uniques.zayatz)
    risky = exact["risky_cells"]
    assert {
        int(d): leaf["value"] for d, leaf in risky["unsafe_cells"].items()
    } == one.risky_cells.unsafe_cells
    assert risky["records_affected"]["value"] == one.risky_cells.records_affected
    assert exact["outliers"]["n_outliers"]["value"] == one.outliers.n_outliers


def test_levels_are_named_inside_only(exact: dict[str, Any], plain: dict[str, Any]) -> None:
    assert "Islands" in exact["suda"]["level_contributions"]["region"]
    assert "level_contributions" not in plain["suda"]
    for name in EXTRA:
        assert "Islands" not in json.dumps(plain[name])


def leaves(tree: Any) -> list[dict[str, Any]]:
    if isinstance(tree, dict):
        own = [tree] if "text" in tree and "value" in tree else []
        return own + [leaf for part in tree.values() for leaf in leaves(part)]
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, list) else []


def test_every_count_is_rounded(plain: dict[str, Any]) -> None:
    counts = [
        *plain["suda"]["msu_counts"].values(), plain["suda"]["pairs"],
        plain["population_risk"]["tau1"], plain["population_risk"]["tau2"],
        *leaves(plain["risky_cells"]["table"]), *plain["risky_cells"]["unsafe_cells"].values(),
        plain["outliers"]["n_outliers"], *plain["outliers"]["counts"].values(),
    ]  # fmt: skip
    assert counts
    for leaf in counts:
        assert leaf["value"] is None or leaf["value"] % 5 == 0, leaf


def test_parts_are_in_whole_per_cent(plain: dict[str, Any]) -> None:
    for leaf in plain["suda"]["contributions"].values():
        assert round(100 * leaf["value"]) == pytest.approx(100 * leaf["value"])


def test_dis_follows_from_the_printed_counts(plain: dict[str, Any]) -> None:
    tree = plain["suda"]
    hits, misses = 0.05 * tree["sample_uniques"]["value"], 0.95 * tree["pairs"]["value"]
    assert tree["dis"]["value"] == pytest.approx(hits / (hits + misses), rel=0.05)


def test_few_uniques_withhold_what_is_estimated_from_them() -> None:
    one = protect(build_document(assessed(keys=["sex", "age", "region"])))["intruders"][0]
    assert one["suda"]["sample_uniques"]["value"] is None or one["suda"]["sample_uniques"]["value"] < 50
    if one["suda"]["sample_uniques"]["text"] != "0":
        for found in one["population_uniques"]["estimates"].values():
            assert found["uniques"]["text"] == "withheld"
        assert {leaf["text"] for leaf in one["suda"]["contributions"].values()} == {"withheld"}


def test_the_fit_is_told_in_words(assessment: Any, plain: dict[str, Any]) -> None:
    tree = plain["population_risk"]
    z2 = assessment.intruders[0].population_risk.z2
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


def test_at_most_fifteen_combinations_in_no_telling_order(plain: dict[str, Any]) -> None:
    names = [row["variables"] for row in plain["risky_cells"]["table"]]
    assert len(names) == 14
    assert names == sorted(names, key=lambda one: (len(one), one))
    assert plain["risky_cells"]["n_combinations"] == 14


def test_weights_do_not_give_their_sum(plain: dict[str, Any]) -> None:
    assert plain["suda"]["sampling_fraction"] == 0.05
    one = protect(build_document(assessed(sampling_fraction=None, weight="weight", numeric=[])))["intruders"][
        0
    ]
    assert one["suda"]["sampling_fraction"] is None
    assert one["population_risk"]["sampling_fraction"] is None
    assert len(one["population_uniques"]["population"]["text"].replace(",", "").strip("0")) <= 2


def test_intruders_print_the_same_combination_alike() -> None:
    two = {"keys": None, "intruders": {"a": KEYS[:3], "b": KEYS}}
    plain = protect(build_document(assessed(300, **two)))
    tables = [
        {tuple(row["variables"]): row["n_unsafe"] for row in one["risky_cells"]["table"]}
        for one in plain["intruders"]
    ]
    shared = tables[0].keys() & tables[1].keys()
    assert shared
    assert all(tables[0][name] == tables[1][name] for name in shared)


def test_undefined_figures_say_so() -> None:
    frame = pl.DataFrame(survey(200)).with_columns(weight=pl.lit(2.0), one=pl.lit("x"))
    scenario = Scenario(keys=["one"], sampling_fraction=0.1, numeric=["weight"])
    with quiet():
        found = sdc.assess(frame, scenario=scenario, measures="all")
    one = protect(build_document(found))["intruders"][0]
    assert one["outliers"]["n_outliers"] is None
    assert one["suda"]["dis"] == {"text": "0", "value": 0.0}
    assert {leaf["text"] for leaf in one["suda"]["contributions"].values()} == {"undefined"}
