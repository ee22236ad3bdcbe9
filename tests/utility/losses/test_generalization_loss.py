"""What a generalised file lost: a case by hand, its ends, laws, every engine, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from sdckit import ColumnError, ScenarioError, generalization_loss
from sdckit.cells.pair import open_files
from sdckit.workflow.recoded_original.open_recoded import open_recoded

TOWNS = {"Graz": ["South", "*"], "Linz": ["North", "*"], "Wels": ["North", "*"], "Enns": ["North", "*"]}
SEX = {"f": ["*"], "m": ["*"]}
JOBS = {"a": ["A", "AB", "*"], "b": ["B", "AB", "*"], "c": ["C", "CD", "*"], "d": ["C", "CD", "*"]}
ALL: dict[str, Any] = {"town": TOWNS, "sex": SEX, "job": JOBS}
BEFORE = pl.DataFrame({
    "town": ["Graz", "Linz", "Wels", "Enns", "Graz", "Linz"], "sex": ["f", "m", "f", "m", "f", "m"],
    "job": ["a", "b", "c", "d", "c", "a"],
})  # fmt: skip
AFTER = pl.DataFrame({
    "town": ["South", "North", "North", "North", "South", None], "sex": ["f", "m", "f", "m", "f", None],
    "job": ["AB", "AB", "CD", "CD", "CD", None],
})  # fmt: skip


def lost(after: pl.DataFrame = AFTER, **more: Any) -> sdc.GeneralizationLoss:
    return generalization_loss(BEFORE, after, hierarchies=ALL, aligned=True, **more)


def test_every_figure_by_hand() -> None:
    """The case that docs/measures/generalization_loss.md works out."""
    found = lost()
    assert found.precision == pytest.approx(1 - ((5 / 2 + 1) / 6 + 1 / 6 + (5 * 2 / 3 + 1) / 6) / 3, rel=1e-12)
    assert found.loss == pytest.approx(((3 * 2 / 3 + 1) / 6 + 1 / 6 + (5 / 3 + 1) / 6) / 3, rel=1e-12)
    town = 2 * math.log2(4 / 2) + 2 * math.log2(4 / 1) - math.log2(4 / 2) + math.log2(6 / 2)
    job = math.log2(3 / 2) + math.log2(3 / 1) + 2 * math.log2(3 / 2) + math.log2(3 / 1) + math.log2(6 / 2)
    assert found.entropy == pytest.approx(town + math.log2(6 / 3) + job, rel=1e-12)
    assert found.height == 1 + 0 + 2
    assert found.discernibility == 5 * 1 + 1 * 6
    assert found.average_class_size == 6 / 6
    assert found.ambiguity == pytest.approx((2 + 6 + 6 + 6 + 2 + 4 * 2 * 4) / 6, rel=1e-12)


def test_where_the_original_has_no_value_nothing_is_lost_and_an_empty_file_is_still_one() -> None:
    gaps = BEFORE.with_columns(
        pl.when(pl.int_range(6) < 4).then(name).alias(name)
        if name != "job"
        else pl.when(pl.int_range(6) < 3).then(name)
        for name in ALL
    )
    empty = gaps.with_columns(pl.lit(None, pl.String).alias(name) for name in ALL)
    ends = [generalization_loss(gaps, file, hierarchies=ALL, aligned=True) for file in (gaps, empty)]
    for found, end in zip(ends, (0.0, 1.0), strict=True):
        assert list(found.normalised[0].values()) == pytest.approx([end] * 7)
    assert ends[1].discernibility == 36


def test_the_original_lost_nothing_and_an_empty_file_everything() -> None:
    nothing, all_ = lost(BEFORE), lost(BEFORE.with_columns(pl.lit(None, pl.String).alias(name) for name in ALL))
    assert (nothing.precision, nothing.loss, nothing.entropy, nothing.ambiguity) == (1.0, 0.0, 0.0, 1.0)
    assert set(nothing.normalised[0].values()) == {0.0}
    assert (all_.precision, all_.loss, all_.entropy_share) == (0.0, 1.0, 1.0)
    assert all_.discernibility == 36
    assert {name: round(value, 12) for name, value in all_.normalised[0].items()} == dict.fromkeys(
        ("precision", "loss", "entropy", "height", "discernibility", "average_class_size", "ambiguity"), 1.0
    )


def test_weights_move_precision_and_loss_alone() -> None:
    town = lost(weights={"town": 2.0, "sex": 0.0, "job": 0.0})
    assert town.loss == town.per_column[0][0]["loss"]
    assert town.precision == town.per_column[0][0]["precision"]
    assert town.discernibility == lost().discernibility
    assert lost(weights=[2.0, 0.0, 0.0]).loss == town.loss
    with pytest.raises(sdc.DataError, match="one number per column"):
        lost(weights=[1.0])


def test_rows_are_matched_by_an_id_and_several_releases_are_averaged() -> None:
    numbered = [frame.with_row_index("id") for frame in (BEFORE, AFTER)]
    turned = numbered[1].sample(fraction=1.0, shuffle=True, seed=3)
    found = generalization_loss(numbered[0], turned, hierarchies=ALL, id="id")
    assert found.per_release == lost().per_release
    both = generalization_loss(BEFORE, [AFTER, BEFORE], hierarchies=ALL, aligned=True)
    assert both.loss == pytest.approx(lost().loss / 2)
    assert both.table.height == 2 * len(ALL)


@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_every_engine_gives_the_same(engine: str) -> None:
    files = [frame.to_pandas() if engine == "pandas" else frame.to_arrow() for frame in (BEFORE, AFTER)]
    assert generalization_loss(*files, hierarchies=ALL, aligned=True).per_release == lost().per_release


def test_steps_of_a_recipe_are_judged_by_their_bands_and_groups() -> None:
    data = sdc.load_demo()
    recipe = sdc.Recipe([
        {"method": "recode", "column": "age", "bands": [15, 25, 35, None]},
        {"method": "recode", "column": "occupation", "groups": {"1-3": [1, 2, 3], "4-6": [4, 5, 6]}},
    ])  # fmt: skip
    made = recipe.apply(data).data
    found = generalization_loss(data, made, recipe=recipe, aligned=True)
    ages = data["age"].to_numpy()
    low, high = ages.min(), ages.max()
    ends = [(max(a, low), min(b, high)) for a, b in ((15, 25), (25, 35), (35, high))]
    widths = [(ends[int(np.searchsorted([25, 35], age, side="right"))]) for age in ages]
    assert found.column_losses["age"] == pytest.approx(np.mean([(b - a) / (high - low) for a, b in widths]))
    assert found.column_losses["occupation"] == pytest.approx(2 / 5)


def test_a_log_has_the_recipe_of_its_release(tmp_path: Path) -> None:
    """Its hierarchies are found where the recipe is; bands of which the number is known have the edges of labels."""
    (tmp_path / "jobs.csv").write_text("".join(f"{job};{job // 4};all\n" for job in range(1, 7)), encoding="utf-8")
    data = sdc.load_demo()
    steps = [
        {"method": "recode", "column": "age", "bands": 3},
        {"method": "recode", "column": "occupation", "hierarchy": "jobs.csv", "level": 1},
    ]
    recipe = sdc.Recipe(steps, folder=tmp_path)
    made = recipe.apply(data)
    found = generalization_loss(data, made.data, recipe=recipe, aligned=True)
    assert found.per_column[0][1]["precision"] == 0.5
    assert 0.2 < found.column_losses["age"] < 0.6
    bands = sdc.Recipe(steps[:1]).apply(data)
    logged = generalization_loss(data, bands.data, log=bands.log, aligned=True)
    assert logged.column_losses["age"] == found.column_losses["age"]
    with pytest.raises(ScenarioError, match="one of recipe= and log="):
        generalization_loss(data, made.data, recipe=recipe, log=made.log, aligned=True)
    with pytest.raises(ScenarioError, match="is a RecipeLog"):
        generalization_loss(data, made.data, log="steps", aligned=True)


@given(st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=12), st.integers(0, 1000))
def test_going_further_up_never_loses_less(levels: list[int], seed: int) -> None:
    towns = np.random.default_rng(seed).choice(list(TOWNS), len(levels)).tolist()
    data = pl.DataFrame({"town": towns})

    def up(to: list[int]) -> sdc.GeneralizationLoss:
        values = [[town, *TOWNS[town]][level] for town, level in zip(towns, to, strict=True)]
        after = pl.DataFrame({"town": values})
        return generalization_loss(data, after, hierarchies={"town": TOWNS}, aligned=True)

    lower, upper = up([max(level - 1, 0) for level in levels]), up(levels)
    assert upper.loss >= lower.loss - 1e-12
    assert upper.entropy >= lower.entropy - 1e-9
    assert 0 <= upper.loss <= 1
    assert 0 <= upper.precision <= 1
    assert upper.ambiguity >= 1


def test_bad_input_is_refused() -> None:
    with pytest.raises(ScenarioError, match="belong together"):
        generalization_loss(BEFORE, AFTER, hierarchies=ALL)
    with pytest.raises(ScenarioError, match="no column to judge"):
        generalization_loss(BEFORE, AFTER, aligned=True)
    with pytest.raises(ScenarioError, match="is a dict"):
        generalization_loss(BEFORE, AFTER, hierarchies=["town"], aligned=True)  # type: ignore[arg-type]
    with pytest.raises(ColumnError, match="elsewhere"):
        generalization_loss(BEFORE, AFTER, hierarchies={"elsewhere": SEX}, aligned=True)
    with pytest.raises(ColumnError, match="none of the columns"):
        lost(weights={"age": 1.0})
    with pytest.raises(sdc.DataError, match="above 0"):
        lost(weights={"town": 0.0, "sex": 0.0, "job": 0.0})


def recoded_pair(release: pl.DataFrame, original: pl.DataFrame, columns: list[str]) -> Any:
    """The files with the original recoded as the release is, as `assess` opens them."""
    return open_recoded(open_files(original, release), {"variables": columns}, aligned=True).pair


def test_a_recoded_pair_says_by_itself_what_was_made_coarser() -> None:
    data = sdc.load_demo().select("age", "occupation", "religious")
    recipe = sdc.Recipe([
        {"method": "recode", "column": "age", "bands": [15, 25, 35, None]},
        {"method": "recode", "column": "occupation", "groups": {"low": [1, 2, 3], "high": [4, 5, 6]}},
    ])  # fmt: skip
    made = recipe.apply(data).data
    pair = recoded_pair(made, data, data.columns)
    assert pair.original["age"].to_list() == made["age"].to_list()
    found = generalization_loss(pair)
    assert found.columns == ("age", "occupation")
    assert found.per_release == generalization_loss(data, made, recipe=recipe, aligned=True).per_release
    some = made.with_columns(pl.when(pl.int_range(pl.len()) < 40).then(None).otherwise("age").alias("age"))
    assert generalization_loss(recoded_pair(some, data, data.columns)).loss > found.loss


def test_a_column_that_was_changed_otherwise_too_is_left_out_and_said() -> None:
    data = pl.DataFrame({"age": [20, 21, 30, 31] * 20, "town": ["a", "b", "c", "d"] * 20})
    towns = {"a": "ab", "b": "ab", "c": "cd", "d": "cd"}
    release = data.select(pl.col("age") // 10 * 10, pl.col("town").replace_strict(towns))
    pair = recoded_pair(release, data, data.columns)
    town = pair.released[0]["town"].scatter([0], ["cd"])
    moved = replace(pair, released=(pair.released[0].with_columns(town=town),), memo={})
    found = generalization_loss(moved)
    assert found.columns == ("age",)
    assert "one value became several" in found.notes["town"]


def test_values_that_kept_their_name_alone_were_not_made_coarser() -> None:
    """Top-coding leaves the values below the limit as they were, and bands count by their width."""
    data = pl.DataFrame({"age": [1, 2, 3, 4, 5, 6]})
    top = sdc.Recipe([{"method": "top_bottom_code", "column": "age", "top": 5}])
    found = generalization_loss(data, data.select(pl.col("age").clip(upper_bound=5)), recipe=top, aligned=True)
    assert (found.precision, found.loss) == pytest.approx((1 - 2 / 6 / 2, 2 / 6 / 5))
    bands = sdc.Recipe([{"method": "recode", "column": "age", "bands": 2}])  # edges of the file's own
    made = bands.apply(data).data
    pair = recoded_pair(made, data, ["age"])
    half = made["age"].unique(maintain_order=True).to_list()
    edge = data.filter(made["age"] == half[1])["age"].min()
    assert generalization_loss(pair).loss == pytest.approx(((edge - 1) + (6 - edge)) / 5 / 2)


def test_numbers_are_the_values_of_a_file_of_a_hierarchy() -> None:
    """A column of floats has 22.0 where the file says 22."""
    levels = {"17.5": ["young", "*"], "22": ["young", "*"], "40": ["old", "*"]}
    ages = pl.DataFrame({"age": [17.5, 22.0, 40.0]})
    some = ages.select(pl.when(pl.col("age") < 30).then(pl.lit("young")).otherwise(pl.lit("old")).alias("age"))
    assert generalization_loss(ages, some, hierarchies={"age": levels}, aligned=True).precision == 0.5
    assert generalization_loss(ages, ages, hierarchies={"age": levels}, aligned=True).precision == 1


@pytest.mark.parametrize("leaf", ["01", "1.0", "1"])
def test_values_are_those_of_a_hierarchy_as_recode_takes_them(leaf: str) -> None:
    levels = {leaf: ["low"], "22.50": ["high"], 7: ["low"]}
    before = pl.DataFrame({"x": [1.0, 22.5, 7.0, None]})
    after = sdc.recode(before, column="x", hierarchy=levels).data
    found = sdc.generalization_loss(before, after, hierarchies={"x": levels}, aligned=True)
    assert (found.precision, found.loss) == (0.0, pytest.approx(1 / 3))
    assert sdc.generalization_loss(before, before, hierarchies={"x": levels}, aligned=True).loss == 0.0
    texts = pl.DataFrame({"x": ["7", "07"]})
    with pytest.raises(sdc.DataError):  # another text is another value
        sdc.generalization_loss(texts, texts, hierarchies={"x": {7: ["low"]}}, aligned=True)
    assert sdc.recode(texts, column="x", hierarchy={7: ["low"], "07": ["high"]}).data["x"].to_list() == ["low", "high"]
