"""Which row of the original each released row was made from, by the log alone or with the original."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from homes import people
from recipes import SECRET
from sdckit.errors import DataError
from sdckit.workflow.recipes.recipe_log import RecipeLog
from sdckit.workflow.recipes.recipe_rows import drawn_order

ORDER = {"method": "random_order"}
HOMES = {"method": "random_order", "household": "home"}
BEFORE = {
    "alone": [ORDER],
    "twice": [ORDER, {"method": "pram", "columns": ["sex"]}, ORDER],
    "households": [HOMES],
    "households, new ids": [ORDER, {"method": "new_ids", "column": "home"}, HOMES],
    "households, divided": [{"method": "limit_households", "household": "home", "largest": 2}, ORDER, HOMES],
}


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("engine", [pl.DataFrame.clone, pl.DataFrame.to_pandas])
def test_the_log_knows_the_order(name, engine, tmp_path):
    data = people().with_row_index("row")
    applied = sdc.Recipe(BEFORE[name]).apply(engine(data), seed=7, secret=SECRET)
    rows = applied.log.rows(engine(data))
    assert rows.tolist() == applied.data["row"].to_list()
    again = RecipeLog.read(applied.log.write(tmp_path / "log.json"))
    assert again.rows(engine(data)).tolist() == rows.tolist()
    if "households" not in name:
        assert again.rows().tolist() == rows.tolist()


def test_a_recipe_that_keeps_the_order_has_none():
    applied = sdc.Recipe([{"method": "pram", "columns": ["sex"]}]).apply(people(), seed=1, secret=SECRET)
    assert applied.log.rows() is None
    assert applied.log.rows(people()) is None
    assert drawn_order(applied.log.steps[0], people()) is None


def test_households_need_the_original_and_another_file_is_refused():
    log = sdc.Recipe([HOMES]).apply(people(), seed=1, secret=SECRET).log
    with pytest.raises(DataError, match="give the original file"):
        log.rows()
    with pytest.raises(DataError, match="another file"):
        log.rows(people().head(20))


def test_hierarchies_are_found_from_a_folder(tmp_path):
    (tmp_path / "tree.csv").write_text("a;west\nb;west\nc;east\nd;east\n", encoding="utf-8")
    steps = [
        {"method": "recode", "column": "region", "hierarchy": "tree.csv", "level": 1},
        {"method": "limit_households", "household": "home", "largest": 2}, HOMES,
    ]  # fmt: skip
    data = people().with_row_index("row")
    applied = sdc.Recipe(steps, folder=tmp_path).apply(data, seed=2, secret=SECRET)
    assert applied.log.rows(data, folder=tmp_path).tolist() == applied.data["row"].to_list()


@pytest.mark.parametrize("order", [ORDER, HOMES])
def test_figures_compare_each_record_with_itself(order):
    data = people()
    scenario = sdc.Scenario(
        keys=["region", "age", "sex", "size"], household="home", sensitive=["tenure"], thresholds={"k": 3}
    )
    steps = [{"method": "local_suppression"}]
    plain = sdc.Recipe(steps).apply(data, scenario=scenario, seed=1, secret=SECRET)
    mixed = sdc.Recipe([*steps, order]).apply(data, scenario=scenario, seed=1, secret=SECRET)
    assert mixed.differing == plain.differing
    last, before = mixed.figures[-1], plain.figures[-1]
    assert (last.share_changed, last.below_k, last.pmse) == pytest.approx(
        (before.share_changed, before.below_k, before.pmse)
    )


def test_an_assessment_compares_each_record_with_itself():
    data = people()
    scenario = sdc.Scenario(keys=["region", "age", "sex", "size"], household="home")
    plain, mixed = (
        sdc.Recipe([{"method": "local_suppression", "k": 3}, *order]).apply(
            data, scenario=scenario, seed=1, secret=SECRET
        )
        for order in ([], [ORDER])
    )
    found, expected = (one.assess(seed=1)["default"]["matching_risk"] for one in (mixed, plain))
    assert found.expected_match_risk == pytest.approx(expected.expected_match_risk)
    assert found.true_match_rate == pytest.approx(expected.true_match_rate)
    assert found.true_match_rate > 0


def test_the_replay_gives_the_same_order():
    data = people()
    applied = sdc.Recipe([ORDER, HOMES]).apply(data, seed=np.random.default_rng(3), secret=SECRET)
    assert sdc.Recipe.replay(data, applied.log).data.equals(applied.data)


def test_identifiers_that_nobody_reads_are_not_needed():
    data = people().with_row_index("row").with_columns(name=pl.lit("x"), line=pl.lit(1), number=pl.lit(2))
    steps = [
        {"method": "drop_identifiers", "columns": ["name", "line"]}, {"method": "drop_identifiers", "columns": ["pay"]},
        {"method": "new_ids", "column": "number"},
        {"method": "limit_households", "household": "home", "largest": 2}, HOMES,
    ]  # fmt: skip
    applied = sdc.Recipe(steps).apply(data, seed=5, secret=SECRET)
    for gone in (["name", "line"], ["line", "pay"], ["number"], []):
        assert applied.log.rows(data.drop(gone)).tolist() == applied.data["row"].to_list()


@pytest.mark.parametrize("n", [3, 50])
def test_records_of_another_number_stand_for_none(n):
    data = people().select("sex", "region")
    applied = sdc.Recipe([{"method": "synthesize", "n": n}, ORDER]).apply(data, secret=SECRET)
    assert applied.data.height == n
    assert applied.differing == dict.fromkeys(data.columns, data.height)
    assert applied.figures[-1].share_changed == 1
    alone = sdc.Recipe([{"method": "synthesize", "n": n}]).apply(data, secret=SECRET)
    assert alone.log.rows() is None
    with pytest.raises(
        DataError, match=rf"step 2 \(random_order\) moved {n} records, and none of them stands for"
    ):
        applied.log.rows()
