"""What a recipe or a log says of the original, and what of it is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from recipes import SECRET
from recoded_files import STEPS, applied, scenario, survey
from sdckit.errors import DataError, FileFormatError, ScenarioError
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recoding.recodings import is_recoding, left_of, read_recodings

PRAM = {"method": "pram", "columns": ["ill"], "pd": 0.8}
CUT = {"method": "recode", "column": "age", "bands": 4}
NOISE = {"method": "add_noise", "columns": ["age"], "noise": 5.0}


def of(*steps: dict):
    found = read_recodings(sdc.Recipe(list(steps)), None)
    assert found is not None
    return found


def test_nothing_given_is_nothing() -> None:
    assert read_recodings(None, None) is None


def test_recodings_are_done_and_protection_is_not() -> None:
    done = of(*STEPS, PRAM).apply(survey(), survey().columns)
    data = survey()
    assert sorted(set(done.data["job"])) == ["high", "low"]
    assert done.data["size"].max() == 4
    assert done.data.null_count().sum_horizontal().item() == 0
    assert done.data["ill"].equals(data["ill"])
    assert done.data["income"].equals((data["income"] / 100).round(mode="half_to_even").cast(pl.Int64) * 100)
    assert [one.column for one in done.changes] == ["age", "job", "size", "income"]
    (note,) = done.notes
    assert note.startswith(
        "step 5 (local_suppression), step 6 (pram) of the recipe: not done to the original"
    )


def test_only_columns_that_are_there() -> None:
    data = survey().select("age", "w")
    done = of(*STEPS).apply(data, data.columns)
    assert [one.column for one in done.changes] == ["age"]


@pytest.mark.parametrize(
    "steps",
    [
        [PRAM],
        [STEPS[4]],
        [PRAM, NOISE],
        [{"method": "round_to", "column": "age", "base": 5, "how": "random"}],
    ],
)
def test_a_recipe_that_recodes_nothing_is_refused(steps: list[dict]) -> None:
    with pytest.raises(
        ScenarioError, match=r"recipe= recodes nothing: its steps .* perturb or suppress"
    ) as caught:
        of(*steps)
    assert caught.value.argument == "recipe"


def test_its_log_is_not_refused(tmp_path: Path) -> None:
    log = applied(steps=[PRAM]).log
    found = read_recodings(None, log.write(tmp_path / "l.json"))
    assert found is not None
    assert found.source == "log"
    assert found.keeps_rows
    assert "ill" not in found.unchanged(["ill", "age"])


@pytest.mark.parametrize("given", [3, ["recode"], {"steps": []}])
def test_what_is_no_recipe_or_log(given: object) -> None:
    with pytest.raises(ScenarioError, match="recipe= is a Recipe"):
        read_recodings(given, None)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="log= is a RecipeLog"):
        read_recodings(None, given)  # type: ignore[arg-type]


def test_files_that_are_not_what_they_should_be(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"there is no recipe none\.toml"):
        read_recodings(tmp_path / "none.toml", None)
    (tmp_path / "r.toml").write_text("[[steps]]\nmethod = 'recod'\n")
    with pytest.raises(ScenarioError, match=r"r\.toml: step 1: there is no method 'recod'"):
        read_recodings(tmp_path / "r.toml", None)
    (tmp_path / "r.toml").write_text("title = 'x'\n")
    with pytest.raises(ScenarioError, match=r"r\.toml: a recipe has at least one step"):
        read_recodings(tmp_path / "r.toml", None)
    with pytest.raises(FileFormatError, match=r"there is no log none\.json"):
        read_recodings(None, tmp_path / "none.json")
    (tmp_path / "l.json").write_text("{}")
    with pytest.raises(FileFormatError, match="is not the internal log"):
        read_recodings(None, tmp_path / "l.json")


@pytest.mark.parametrize(
    "spoil", [{"recipe": "x ="}, {"recipe": ""}, {"recipe": "[[steps]]\nmethod = 'nope'"}, {"steps": []}]
)
def test_a_damaged_log(tmp_path: Path, spoil: dict) -> None:
    path = applied().log.write(tmp_path / "l.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | spoil))
    with pytest.raises(FileFormatError, match="the log is damaged"):
        read_recodings(None, path)


def test_recipe_and_log_must_fit() -> None:
    done = applied()
    both = read_recodings(done.recipe, done.log)
    assert both is not None
    assert both.source == "log"
    with pytest.raises(ScenarioError, match="not the recipe of the log"):
        read_recodings(sdc.Recipe(STEPS[:2]), done.log)


def test_a_hierarchy_stands_where_the_recipe_is_and_is_that_of_the_log(tmp_path: Path) -> None:
    table = tmp_path / "job.csv"
    table.write_text("".join(f"{job};{job // 10};all\n" for job in (11, 12, 13, 21, 22, 23)))
    (tmp_path / "r.toml").write_text(
        '[[steps]]\nmethod = "recode"\ncolumn = "job"\nhierarchy = "job.csv"\nlevel = 1\n'
    )
    by_recipe = read_recodings(tmp_path / "r.toml", None)
    assert by_recipe is not None
    done = by_recipe.apply(survey(), ["job"])
    assert sorted(set(done.data["job"].cast(pl.Int64))) == [1, 2]
    assert done.changes[0].kind == "values up a hierarchy"
    log = (
        sdc.Recipe.from_toml(tmp_path / "r.toml").apply(survey(), watch=False).log.write(tmp_path / "l.json")
    )
    assert read_recodings(None, log) is not None
    (tmp_path / "away").mkdir()
    moved = tmp_path / "away" / "l.json"
    moved.write_bytes(log.read_bytes())
    with pytest.raises(
        DataError, match=r"the hierarchy job\.csv that the log names is not beside the log; give the recipe"
    ):
        read_recodings(None, moved)
    assert read_recodings(tmp_path / "r.toml", moved) is not None
    table.write_text(table.read_text().replace(";2;", ";1;"))
    with pytest.raises(DataError, match=r"the hierarchy job\.csv is not the one of the log"):
        read_recodings(None, log)


def test_a_log_of_another_file() -> None:
    found = read_recodings(None, applied().log)
    assert found is not None
    columns = survey().columns
    assert found.check_file(columns, 400).checked
    with pytest.raises(DataError, match="another file: the original has no column 'ill'"):
        found.check_file([name for name in columns if name != "ill"])
    with pytest.raises(DataError, match="another file: the original has a column 'extra' more"):
        found.check_file([*columns, "extra"])
    assert found.check_file([*columns, "extra"], identifiers=["extra"])
    with pytest.raises(DataError, match="another file: the original has 399 records, that of the log 400"):
        found.check_file(columns, 399)
    with pytest.raises(DataError, match="release 2 has 5 records, that of the log 400"):
        found.check_sizes([400, 5], ["release 1", "release 2"])
    found.check_sizes([None], ["the release"])


def test_identifiers_of_the_logs_own_scenario_need_not_have_been_read() -> None:
    log = (
        sdc.Recipe(STEPS)
        .apply(survey().drop("name"), scenario=scenario(identifiers=["name"]), watch=False)
        .log
    )
    found = read_recodings(None, log)
    assert found is not None
    assert found.check_file(survey().columns, 400).checked


def test_edges_cut_from_values_that_had_changed_before() -> None:
    done = of(NOISE, CUT).apply(survey(), ["age"])
    assert done.changes == ()
    assert done.unsure == ("age",)
    assert done.notes[0].startswith(
        "age: step 2 (recode) takes the edges of its bands from values that an earlier step"
    )
    made = applied(steps=[NOISE, CUT])
    by_log = read_recodings(None, made.log)
    assert by_log is not None
    labels = set(by_log.apply(survey(), ["age"]).data["age"].drop_nulls())
    assert labels == set(made.data["age"].drop_nulls())
    mean = {"method": "top_bottom_code", "column": "age", "top": 60, "to": "mean"}
    assert of(NOISE, mean).apply(survey(), ["age"]).unsure == ("age",)
    assert of(mean).apply(survey(), ["age"]).changes[0].kind == "the largest numbers brought to a limit"


def test_columns_that_a_recoding_goes_by_are_needed() -> None:
    by = {"method": "top_bottom_code", "column": "income", "top": 5000, "by": ["size"]}
    assert of(by).needs(["income"]) == ("size",)
    assert of(by).needs(["income", "size"]) == ()
    assert of(by).needs(["age"]) == ()


def test_rows() -> None:
    full = {"method": "synthesize", "models": "sample"}
    part = {"method": "synthesize", "models": "sample", "columns": ["ill"]}
    assert of(*STEPS, part).keeps_rows
    assert not of(*STEPS, full).keeps_rows
    moved = replace(of(*STEPS), steps=(*of(*STEPS).steps, StepLike("random_order", {})))
    assert not moved.keeps_rows
    assert replace(moved, rows=np.arange(400)[::-1]).keeps_rows


def test_what_a_recoding_is() -> None:
    assert is_recoding(StepLike("recode", {"column": "x"}))
    assert not is_recoding(StepLike("drop_identifiers", {"columns": ["x"]}))
    assert not is_recoding(StepLike("microaggregate", {"columns": ["x"]}))


def test_keys_that_are_left_out() -> None:
    drop = of({"method": "drop_identifiers", "columns": ["size", "name"]})
    scene = scenario(keys=None, intruders={"a": ["age", "size"], "b": ["size"]}, missing={"size": "category"})
    left, gone = left_of(scene, drop, {"age"})
    assert left.intruders == {"a": ("age",)}
    assert left.missing == "wildcard"
    assert gone == ["size"]
    assert left_of(scene, drop, {"age", "size"}) == (scene, [])
    assert left_of(scene, None, {"age"}) == (scene, [])
    with pytest.raises(ScenarioError, match="none of the keys of any intruder"):
        left_of(scenario(keys=["size"]), drop, {"age"})


def test_the_order_of_homes_needs_what_the_households_were_made_of() -> None:
    """Households put into random order are those that the steps before have made."""
    data = survey().with_columns(home=pl.int_range(pl.len()) // 2)
    steps = [CUT, {"method": "random_order", "household": "home"}]
    made = sdc.Recipe(steps).apply(data, secret=SECRET)
    found = read_recodings(None, made.log)
    assert found is not None
    assert set(found.needs(["age"])) == set(made.log.columns) - {"age"}
    alone = read_recodings(None, sdc.Recipe([CUT]).apply(data, secret=SECRET).log)
    assert alone is not None
    assert "home" not in alone.needs(["age"])
