"""What a recipe or a log says of the original, and what of it is refused."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import sdckit as sdc
from recipes import SECRET
from recoded_files import STEPS, applied, scenario, survey
from sdckit.data.hierarchy import read_band
from sdckit.errors import DataError, FileFormatError, ScenarioError
from sdckit.workflow.recipes.recipe_checks import StepLike
from sdckit.workflow.recoded_original.published_recodings import (
    Banded,
    Grouped,
    Repeated,
    is_recoding,
    left_of,
    read_bands,
    read_recodings,
)

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
    assert note.startswith("step 5 (local_suppression), step 6 (pram) of the recipe: not done to the original")


def test_only_columns_that_are_there() -> None:
    data = survey().select("age", "w")
    done = of(*STEPS).apply(data, data.columns)
    assert [one.column for one in done.changes] == ["age"]


@pytest.mark.parametrize(
    "steps", [[PRAM], [STEPS[4]], [PRAM, NOISE], [{"method": "round_to", "column": "age", "base": 5, "how": "random"}]]
)
def test_a_recipe_that_recodes_nothing_is_refused(steps: list[dict]) -> None:
    with pytest.raises(ScenarioError, match=r"recipe= recodes nothing: its steps .* perturb or suppress") as caught:
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
    (tmp_path / "r.toml").write_text('[[steps]]\nmethod = "recode"\ncolumn = "job"\nhierarchy = "job.csv"\nlevel = 1\n')
    by_recipe = read_recodings(tmp_path / "r.toml", None)
    assert by_recipe is not None
    done = by_recipe.apply(survey(), ["job"])
    assert sorted(set(done.data["job"].cast(pl.Int64))) == [1, 2]
    assert done.changes[0].kind == "values up a hierarchy"
    log = sdc.Recipe.from_toml(tmp_path / "r.toml").apply(survey(), watch=False).log.write(tmp_path / "l.json")
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
    log = sdc.Recipe(STEPS).apply(survey().drop("name"), scenario=scenario(identifiers=["name"]), watch=False).log
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
    own = scene.changed(missing={"size": "category", "age": "category"})
    assert left_of(own, drop, {"age"})[0].missing == {"age": "category"}
    assert left_of(scene, drop, {"age", "size"}) == (scene, [])
    assert left_of(scene, None, {"age"}) == (scene, [])
    nobody, gone = left_of(scenario(keys=["size"]), drop, {"age"}, judged=True)
    assert (nobody.intruders, nobody.all_keys, nobody.keys, gone) == ({}, (), (), ["size"])
    assert nobody.narrowed({"age"}).intruders == {}
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


# Each kind of recoding, done to a frame that stays as it was.


FRAME = pl.DataFrame({"x": [5, 15, 99, None]})


def test_bands_with_and_without_what_lies_beyond() -> None:
    bands = read_bands(["0-9", "10-19"])
    assert bands is not None
    assert Banded("x", bands).apply(FRAME)["x"].to_list() == ["0-9", "10-19", None, None]
    assert Banded("x", bands, keep=True).apply(FRAME)["x"].to_list() == ["0-9", "10-19", "99", None]
    assert FRAME["x"].to_list() == [5, 15, 99, None]


def test_groups_with_and_without_what_is_in_none() -> None:
    assert Grouped("x", {5: 1, 15: 1}, keep=True).apply(FRAME)["x"].to_list() == [1, 1, 99, None]
    assert Grouped("x", {5: "a", 15: "a"}).apply(FRAME)["x"].to_list() == ["a", "a", None, None]


@pytest.mark.parametrize(
    ("method", "arguments", "words", "values"),
    [
        ("recode", {"bands": [0, 10, None]}, "numbers in bands", ["0-9", "10+", "10+", None]),
        ("recode", {"groups": {"1": [5, 15, 99]}}, "values in groups", ["1", "1", "1", None]),
        ("top_bottom_code", {"top": 20}, "the largest numbers brought to a limit", [5, 15, 20, None]),
        (
            "top_bottom_code",
            {"top": 20, "bottom": 9},
            "the largest and smallest numbers brought to a limit",
            [9, 15, 20, None],
        ),
        ("round_to", {"base": 10, "how": "down"}, "numbers rounded", [0, 10, 90, None]),
    ],
)
def test_a_step_is_repeated(method: str, arguments: dict[str, object], words: str, values: list[object]) -> None:
    one = Repeated(1, StepLike(method, {"column": "x", **arguments}))
    assert one.kind == words
    assert one.apply(FRAME)["x"].to_list() == values
    assert one.elsewhere() is one


def test_edges_of_one_file_are_not_those_of_another() -> None:
    one = Repeated(2, StepLike("recode", {"column": "x", "bands": 3}), own_values="the edges of its bands")
    with pytest.raises(DataError, match=r"step 2 \(recode\) takes the edges of its bands from the file's own values"):
        one.elsewhere()


def test_an_error_names_the_step() -> None:
    with pytest.raises(DataError, match=r"step 4 \(recode\): column 'x': 1 record has a value in no band"):
        Repeated(4, StepLike("recode", {"column": "x", "bands": [0, 50]})).apply(FRAME)
    assert np.array_equal(FRAME["x"].is_null(), [False, False, False, True])


# Names of bands are read as the numbers they stand for; what is no band, or not plain, is not read.


OPEN = math.inf


@pytest.mark.parametrize(
    ("label", "band"),
    [
        ("30-39", (30, 39, True, True)),
        ("30 – 39", (30, 39, True, True)),
        ("30 to 39", (30, 39, True, True)),
        ("30 bis 39", (30, 39, True, True)),
        ("30..39", (30, 39, True, True)),
        ("05-09", (5, 9, True, True)),
        ("-5 to 3", (-5, 3, True, True)),
        ("30-39 years", (30, 39, True, True)),
        ("[30,40)", (30, 40, True, False)),
        ("(0.999, 18.0]", (0.999, 18, False, True)),
        ("[30; 40[", (30, 40, True, False)),
        ("]30, 40]", (30, 40, False, True)),
        ("[65, inf)", (65, OPEN, True, False)),
        ("(-inf, 18)", (-OPEN, 18, False, False)),
        ("65+", (65, OPEN, True, True)),
        ("65 and over", (65, OPEN, True, True)),
        ("65 or more", (65, OPEN, True, True)),
        ("65 und mehr", (65, OPEN, True, True)),
        (">=65", (65, OPEN, True, True)),
        ("≥ 65", (65, OPEN, True, True)),
        ("over 65", (65, OPEN, False, True)),
        (">65", (65, OPEN, False, True)),
        ("<18", (-OPEN, 18, True, False)),
        ("under 18", (-OPEN, 18, True, False)),
        ("up to 17", (-OPEN, 17, True, True)),
        ("≤17", (-OPEN, 17, True, True)),
        ("17 and younger", (-OPEN, 17, True, True)),
        ("42", (42, 42, True, True)),
        ("any", (-OPEN, OPEN, True, True)),
    ],
)
def test_the_usual_spellings(label: str, band: tuple[float, float, bool, bool]) -> None:
    found = read_band(label)
    assert found is not None
    assert found[:4] == band


@pytest.mark.parametrize(
    "label", ["", "unknown", "40-30", "2020-01-31", "30-", "a-b", "3 kids", "-", "1,5-2", "[3, 2]"]
)
def test_what_is_no_band(label: str) -> None:
    assert read_band(label) is None


@pytest.mark.parametrize(
    "labels",
    [[], ["0-14", "unknown"], ["1", "2", "3"], ["0-20", "10-30"], ["30-40", "40-50"], ["0-14", "14+"], ["5+", "3+"]],
)
def test_names_that_do_not_fit_together(labels: list[str]) -> None:
    assert read_bands(labels) is None


def test_a_shared_edge_goes_where_it_is_told() -> None:
    labels = ["30-40", "40-50"]
    left, right = read_bands(labels, shared="left"), read_bands(labels, shared="right")
    assert left is not None
    assert right is not None
    assert left.codes(np.array([30.0, 40, 50])).tolist() == [0, 1, 1]
    assert right.codes(np.array([30.0, 40, 50])).tolist() == [0, 0, 1]


@given(
    edges=st.lists(st.integers(-50, 120), min_size=2, max_size=6, unique=True).map(sorted),
    low_open=st.booleans(), high_open=st.booleans(), closed=st.sampled_from(["left", "right"]), tenths=st.booleans(),
)  # fmt: skip
def test_every_name_that_recode_gives_is_read_back(edges, low_open, high_open, closed, tenths) -> None:
    """The law: the bands read from the names put every number where recode put it."""
    numbers = np.arange(edges[0], edges[-1] + 1, dtype=float)
    if tenths:
        numbers = np.append(numbers, edges[0] + 0.5)
    bands = [None if low_open else edges[0], *edges[1:-1], None if high_open else edges[-1]]
    made = sdc.recode(pl.DataFrame({"x": numbers}), column="x", bands=bands, closed=closed).data["x"].to_list()
    found = read_bands(sorted(set(made)))
    if all(label.lstrip("-").isdigit() for label in made):
        assert found is None
        return
    assert found is not None
    assert [found.labels[code] for code in found.codes(numbers).tolist()] == made


def test_dates_by_period_are_called_so() -> None:
    one = Repeated(1, StepLike("recode", {"column": "born", "period": "year"}))
    assert one.kind == "dates by period"
