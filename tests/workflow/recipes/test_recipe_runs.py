"""A recipe runs on what it is given: a file in memory, or a plan that its engine carries out."""

from __future__ import annotations

import math
import re
import warnings
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import sdckit as sdc
from homes import people
from plans import duckdb_relation, on_engines
from recipes import SECRET
from sdckit.cells.plans.changed_plan import Changing, open_changing
from sdckit.data.frames import open_frame
from sdckit.data.rule_conditions import breaking
from sdckit.errors import ColumnError, DataError, SdcWarning
from sdckit.protect.recoding.coarsen_weights import told_by
from sdckit.workflow.recipes.recipe_runs import InMemory, OnPlan, _shares_told, start

SURVEY = pl.DataFrame({"a": ["x", "x", "y"] * 20, "w": [1.0, 1.0, 2.0] * 20})
STEPS: list[dict[str, Any]] = [{"method": "local_suppression", "keys": ["a"], "k": 2}]


@on_engines
def test_a_run_for_each_kind_of_file(plan: Any) -> None:
    assert isinstance(start(SURVEY, None), InMemory)
    found = start(plan(SURVEY), None)
    assert isinstance(found, OnPlan)
    assert (found.n, found.columns) == (60, ("a", "w"))
    with pytest.raises(DataError, match="no records"):
        start(plan(SURVEY[:0]), None)
    with pytest.raises(DataError, match="not a data frame"):
        start([1, 2], None)


@on_engines
def test_every_step_is_held_against_the_file_before_the_first_runs(plan: Any) -> None:
    late = sdc.Recipe([*STEPS, {"method": "round_to", "column": "pay", "base": 4}])
    for data in (SURVEY, plan(SURVEY)):
        with pytest.raises(ColumnError, match="step 2"):
            late.check(data)


@on_engines
def test_a_column_to_leave_out_is_listed_once(plan: Any) -> None:
    twice = sdc.Recipe([{"method": "drop_identifiers", "columns": ["a", "a"]}])
    for data in (SURVEY, plan(SURVEY)):
        with pytest.raises(ColumnError, match=r"step 1 \(drop_identifiers\): columns: 'a' is listed more than once"):
            twice.apply(data, watch=False)


@on_engines
def test_a_plan_is_warned_of_weights_that_tell_a_key(plan: Any) -> None:
    scenario = sdc.Scenario(keys=["a"], weight="w")
    said = []
    for data in (SURVEY, plan(SURVEY)):
        with pytest.warns(SdcWarning, match="w: many of its values occur with one value of a only") as caught:
            sdc.Recipe(STEPS).check(data, scenario=scenario)
        said.append([str(one.message) for one in caught])
    assert said[0] == said[1]
    rounded = [{"method": "round_to", "column": "w", "base": 4, "how": "down"}, *STEPS]
    for data in (SURVEY, plan(SURVEY)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sdc.Recipe(rounded).apply(data, scenario=scenario, watch=False)


@on_engines
def test_mates_that_share_a_weight_and_a_key_are_no_reason_to_warn_on_a_plan(plan: Any) -> None:
    """A weight of one household alone tells what the others of it have, and that is known from them anyway."""
    homes = [home for home in range(120) for _ in range(1 + home % 4)]
    size = [1 + home % 4 for home in homes]
    data = pl.DataFrame({"home": homes, "w": [1 + home / 120 for home in homes], "a": size})
    alike = data.with_columns(w=pl.col("home") % 4 + 1.5)  # of many households, all of one size
    scenario = sdc.Scenario(keys=["a"], weight="w", household="home")
    for frame in (data, plan(data)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sdc.Recipe(STEPS).check(frame, scenario=scenario)
    for frame in (alike, plan(alike)):
        with pytest.warns(SdcWarning, match="w: many of its values occur with one value of a only"):
            sdc.Recipe(STEPS).check(frame, scenario=scenario)


@on_engines
def test_a_plan_is_asked_for_its_households_once_and_tells_what_memory_does(
    plan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records without a household are each one of their own, alike or not."""
    n = 240
    data = pl.DataFrame({
        "home": [None if i % 3 == 0 else i // 4 for i in range(n)], "w": [i // 8 + 1.5 for i in range(n)],
        "a": [i // 8 % 5 if i // 8 % 3 else i % 5 for i in range(n)], "b": [(i // 4) % 3 for i in range(n)],
    })  # fmt: skip
    asked: list[list[str]] = []
    first_of = Changing.first_of

    def counted(self: Changing, unit: str, columns: Any) -> Any:
        asked.append(list(columns))
        return first_of(self, unit, columns)

    monkeypatch.setattr(Changing, "first_of", counted)
    here = told_by(open_frame(data), "w", ["a", "b"], household="home")
    assert _shares_told(open_changing(plan(data), n), "w", ["a", "b"], "home") == here
    assert here["a"] > 0
    assert asked == [["w", "a", "b"]]


def test_keys_are_looked_at_alone_where_all_are_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pl.DataFrame({"home": range(60), "w": [1.5, 1.5, 2.5] * 20, "a": ["x", "x", "y"] * 20, "b": [1, 2] * 30})
    monkeypatch.setattr("sdckit.cells.plans.changed_plan.most_cells", lambda n_keys, *_: 80 if n_keys < 4 else 5)
    found = _shares_told(open_changing(data.lazy(), 60), "w", ["a", "b"], "home")
    assert found == told_by(open_frame(data), "w", ["a", "b"], household="home")


@on_engines
def test_rows_of_people_that_are_made_up_one_by_one_are_no_panel(plan: Any) -> None:
    visits = pl.DataFrame({"who": [i // 3 for i in range(60)], "a": ["x", "x", "y"] * 20, "b": [1, 2, 3, 4] * 15})
    scenario = sdc.Scenario(keys=["a"], person="who")
    made_up = sdc.Recipe([{"method": "synthesize", "columns": ["a"]}])
    words = "who: people have several rows, and synthesize draws each row by itself"
    for data in (visits, plan(visits)):
        with pytest.warns(SdcWarning, match=words):
            made_up.check(data, scenario=scenario)
        once = data.filter(pl.col("b") == 1) if data is visits else plan(visits.filter(pl.col("b") == 1))
        made_up.check(once, scenario=scenario)
        made_up.check(data, scenario=sdc.Scenario(keys=["a"]))
        sdc.Recipe([{"method": "round_to", "column": "b", "base": 2}]).check(data, scenario=scenario)


@on_engines
def test_what_a_plan_cannot_tell(plan: Any) -> None:
    scenario = sdc.Scenario(keys=["a"])
    applied = sdc.Recipe(STEPS).apply(plan(SURVEY), scenario=scenario)
    with pytest.raises(DataError, match="write it, and assess or check the file written"):
        applied.assess()
    assert all(math.isnan(one.pmse) for one in applied.figures)
    assert applied.variables["variable"].to_pylist() == ["a", "w"]
    assert applied.steps["step"].to_pylist() == [0, 1]
    assert "1 step on 60 records" in repr(applied)
    assert "a" in applied._repr_html_()


def test_a_plan_that_fails_is_told_without_values() -> None:
    failing = SURVEY.lazy().with_columns(pl.col("a").cast(pl.Int64))
    with pytest.raises(DataError, match="cannot be carried out"):
        sdc.Recipe([{"method": "recode", "column": "a", "bands": [0, 1]}]).apply(failing)


# A warning where the weight tells what a recipe takes out.


SUPPRESS = {"method": "local_suppression", "k": 3}
COARSE = {"method": "coarsen_weights", "weight": "w", "hide": ["region"]}


def scenario(**more):
    return sdc.Scenario(keys=["region", "age", "sex"], weight="w", **more)


def told(steps, data=None, **more):
    data = people() if data is None else data
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sdc.Recipe(steps).apply(data, scenario=scenario(**more), seed=1, secret=SECRET, watch=False)
    return [str(one.message) for one in caught if issubclass(one.category, SdcWarning)]


@pytest.mark.parametrize("steps", [
    [SUPPRESS], [{"method": "pram", "columns": ["region"]}],
    [{"method": "local_suppression", "k": 3, "intruder": "default"}],
    [{"method": "swap_records", "hierarchy": ["region"], "keys": ["age"]}],
])  # fmt: skip
@pytest.mark.parametrize("more", [{}, {"household": "home"}])
def test_a_weight_that_tells_a_key_which_is_changed_is_warned_of_once(steps, more):
    (said,) = told(steps, **more)
    assert said.startswith("w: many of its values occur with one value of region only")
    assert "coarsen_weights" in said
    assert "sex" not in said


@pytest.mark.parametrize("steps", [
    [COARSE, SUPPRESS], [SUPPRESS, COARSE],
    [SUPPRESS, {"method": "drop_identifiers", "columns": ["w"]}],
    [{"method": "pram", "columns": ["sex"]}],
    [{"method": "recode", "column": "region", "groups": {"west": ["a", "b"], "east": ["c", "d"]}}],
    [{"method": "synthesize", "household": "home"}],
])  # fmt: skip
def test_there_is_no_warning_where_nothing_is_told_or_taken_out(steps):
    assert told(steps) == []


def test_a_coarser_weight_that_still_tells_is_warned_of_in_the_end():
    (said,) = told([{"method": "coarsen_weights", "weight": "w", "strata": ["region"], "k": 3}, SUPPRESS])
    assert "region" in said


def test_the_check_warns_too():
    with pytest.warns(SdcWarning, match="one value of region only"):
        sdc.Recipe([SUPPRESS]).check(people(), scenario=scenario())


def test_unique_weights_are_not_warned_of():
    data = people().with_columns(w=5.0 + pl.int_range(pl.len()) / 7)
    assert told([SUPPRESS], data) == []


# A recipe gives a plan what it gives the same file in memory: record by record, with the same log.


PLANS_SECRET = "07" * 16
FEW = settings(
    max_examples=6, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
KEYS = ["town", "age", "flag"]


@st.composite
def surveys(draw: st.DrawFn) -> pl.DataFrame:
    """Files of some dozens of records, with missing values."""
    n = draw(st.integers(8, 60))

    def column(*values: Any) -> list[Any]:
        return [values[0], *draw(st.lists(st.sampled_from(values), min_size=n - 1, max_size=n - 1))]

    return pl.DataFrame(
        {
            "row": pl.Series(range(n), dtype=pl.Int64),
            "name": pl.Series(column("Ann", None, "Bob"), dtype=pl.String),
            "town": pl.Series(column("Graz", "Linz", "Wels", None), dtype=pl.String),
            "age": pl.Series(column(*range(20, 80, 4), None), dtype=pl.Int32),
            "flag": pl.Series(column(True, False), dtype=pl.Boolean),
            "income": pl.Series(column(10.0, 900.5, 2500.25, 80000.0, None), dtype=pl.Float64),
            "half": pl.Series(["a", "b"] * (n // 2) + ["a"] * (n % 2)),
        }
    )


RECODINGS: list[dict[str, Any]] = [
    {"method": "drop_identifiers", "columns": ["name"]},
    {"method": "recode", "column": "town", "groups": {"south": ["Graz"], "north": ["Linz", "Wels"]}},
    {"method": "recode", "column": "age", "bands": [20, 40, 60, None]},
    {"method": "recode", "column": "age", "bands": 3, "how": "equal_frequency"},
    {"method": "round_to", "column": "income", "base": 1000},
    {"method": "top_bottom_code", "column": "income", "top": 5000, "bottom": 500},
    {"method": "top_bottom_code", "column": "income", "top": 5000, "by": ["town"]},
    {"method": "new_ids", "column": "row"},
    {"method": "recompute", "derived": {"row": "2 * age", "income": "round(row / 10)"}},
    {"method": "recompute", "derived": {"age": "income / 2"}},
]
SUPPRESSIONS: list[dict[str, Any]] = [
    {"k": 2},
    {"k": 3, "importance": ["flag", "town", "age"]},
    {"k": 3, "alpha": 0.0},
    {"k": 2, "alpha": 0.5},
    {"combinations": {"1": 3, "2": 2}},
    {"k": 4, "exact": False},
    {"k": 2, "strata": ["half"]},
]


def both(recipe: sdc.Recipe, survey: pl.DataFrame, plan: Any, **how: Any) -> tuple[Any, Any]:
    """The recipe applied to the file in memory, and to it as a plan."""
    told = {"secret": PLANS_SECRET, "id_keys": {"row": "01" * 16} if "new_ids" in recipe.to_toml() else None, **how}
    return recipe.apply(survey, **told), recipe.apply(plan(survey), **told)


def assert_alike(here: Any, there: Any) -> None:
    """The same values in the same columns and rows, the same log and the same counts."""
    expected = here.data.with_columns(pl.col(pl.Enum, pl.Categorical).cast(pl.String))
    found = there.data.collect() if isinstance(there.data, pl.LazyFrame) else there.data.pl()
    assert found.columns == expected.columns
    assert found.cast(expected.schema).equals(expected)
    assert there.differing == here.differing
    left, right = here.log.to_dict(internal=True), there.log.to_dict(internal=True)
    assert left == right


@on_engines
@pytest.mark.parametrize("step", RECODINGS, ids=lambda one: "-".join(map(str, list(one.values())[:3])))
@FEW
@given(survey=surveys())
def test_recodings(plan: Any, step: dict[str, Any], survey: pl.DataFrame) -> None:
    assert_same(sdc.Recipe([step]), survey, plan)


@on_engines
@pytest.mark.parametrize("how", SUPPRESSIONS, ids=str)
@FEW
@given(survey=surveys())
def test_local_suppression(plan: Any, how: dict[str, Any], survey: pl.DataFrame) -> None:
    step = {"method": "local_suppression", "keys": KEYS, **how}
    assert_same(sdc.Recipe([step]), survey, plan)


def assert_same(recipe: sdc.Recipe, survey: pl.DataFrame, plan: Any) -> None:
    """The same release, or the same refusal."""
    here, there = (applied(recipe, data) for data in (survey, plan(survey)))
    if isinstance(here, str):
        assert there == here
    else:
        assert_alike(here, there)


def applied(recipe: sdc.Recipe, data: Any) -> Any:
    """What the recipe gives, or what it says; a plan has no row numbers."""
    try:
        return recipe.apply(data, secret=PLANS_SECRET, id_keys=_keys(recipe))
    except sdc.SdcError as error:
        return re.sub(r" \(rows? [^)]*\)", "", str(error))


def _keys(recipe: sdc.Recipe) -> dict[str, str] | None:
    return {"row": "01" * 16} if recipe.steps[0].method == "new_ids" else None


@on_engines
@FEW
@given(survey=surveys(), seed=st.integers(0, 99))
def test_one_step_after_the_other(plan: Any, survey: pl.DataFrame, seed: int) -> None:
    steps = [RECODINGS[0], RECODINGS[1], RECODINGS[2], {"method": "local_suppression", "k": 2},
             {"method": "random_order"}, {"method": "recode", "column": "half", "groups": {"one": ["a", "b"]}},
             {"method": "random_order"}]  # fmt: skip
    scenario = sdc.Scenario(keys=KEYS, thresholds={"k": 2})
    recipe = sdc.Recipe(steps)
    here, there = both(recipe, survey, plan, scenario=scenario, secret=f"{seed:032x}")
    assert_alike(here, there)
    for one, other in zip(here.figures, there.figures, strict=True):
        assert (one.step, one.method, one.values_changed, one.rule, one.keys, one.small, one.compared) == (
            other.step, other.method, other.values_changed, other.rule, other.keys, other.small, other.compared,
        )  # fmt: skip
        for name in ("sample_uniques", "below_k", "expected_reidentifications", "share_changed"):
            assert getattr(other, name) == pytest.approx(getattr(one, name), rel=1e-12), name


@on_engines
def test_the_records_come_in_the_order_drawn(plan: Any) -> None:
    survey = pl.DataFrame({"x": range(50), "y": ["a"] * 50})
    recipe = sdc.Recipe([{"method": "random_order"}])
    here, there = both(recipe, survey, plan)
    found = there.data.collect() if isinstance(there.data, pl.LazyFrame) else there.data.pl()
    assert found["x"].to_list() == here.data["x"].to_list()
    assert there.log.rows().tolist() == found["x"].to_list()
    assert found["x"].to_list() != survey["x"].to_list()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"method": "random_order", "household": "half"}, "household: Spark knows places"),
    ({"method": "pram", "columns": ["town"]}, ".*no record is found again"),
    ({"method": "impute_masked", "masked": {"income": "age"}, "error": {"income": 0.1}}, ".*no record is found again"),
]


@pytest.mark.parametrize(("step", "says"), REFUSED, ids=lambda one: str(one)[:40])
def test_a_step_that_does_not_run_is_told_before_any_work(
    step: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdckit.cells.plans import changed_plan
    from sdckit.cells.plans.changed_plan import Changing

    def work(*_: Any, **__: Any) -> None:
        raise AssertionError("the plan was counted")

    monkeypatch.setattr(Changing, "distinct", work)
    monkeypatch.setattr(Changing, "brought", work)
    survey = pl.DataFrame({name: ["a", "b"] for name in [*KEYS, "half"]}).with_columns(income=pl.lit(1.0))
    recipe = sdc.Recipe([{"method": "random_order"}, step])
    recipe.check(survey.lazy())
    monkeypatch.setattr(changed_plan, "on_spark", lambda _: True)  # of a plan of no file
    with pytest.raises(DataError, match=rf"step 2 \({step['method']}\) does not run on a plan: {says}") as caught:
        recipe.check(survey.lazy())
    assert "Bring the file into memory for it, or take another engine" in str(caught.value)


def test_every_method_runs() -> None:
    from sdckit.data.methods import METHODS
    from sdckit.workflow.recipes.recipe_runs import WAYS

    tried = {one["method"] for one in RECODINGS} | {"local_suppression", "random_order"}
    assert {name for name, kind in METHODS.items() if kind.plan != "records"} == tried
    assert {kind.plan for kind in METHODS.values()} == {*WAYS, "records"}


@on_engines
def test_what_does_not_fit_is_told_with_the_step(plan: Any) -> None:
    survey = plan(pl.DataFrame({"a": ["x", "x", "y"], "n": [1, 2, 300]}))
    for step, kind, says in [
        ({"method": "recode", "column": "b", "bands": [0, 1]}, ColumnError, r"step 1 \(recode\).*no column 'b'"),
        ({"method": "recode", "column": "a", "groups": {"z": ["y"]}}, DataError, "1 of its values, in 2 records"),
        ({"method": "recode", "column": "n", "bands": [0, 9]}, DataError, "1 record has a value in no band"),
        ({"method": "round_to", "column": "a", "base": 2}, DataError, "holds no numbers"),
        ({"method": "local_suppression", "keys": ["a"], "k": 4}, DataError, "more than the 3 records"),
        ({"method": "drop_identifiers", "columns": ["a", "n"]}, ColumnError, "no column would remain"),
    ]:
        with pytest.raises(kind, match=says):
            sdc.Recipe([step]).apply(survey)


@on_engines
def test_more_cells_than_fit_are_refused_with_their_number(plan: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdckit.cells.plans import count_cells

    monkeypatch.setattr(count_cells, "MOST_CELLS", 5)
    steps = [{"method": "recode", "column": "n", "bands": [0, 10, 20, 30]},
             {"method": "local_suppression", "keys": ["n", "a"], "k": 2}]  # fmt: skip
    fine = plan(pl.DataFrame({"a": ["x", "y"] * 14, "n": [*range(4), *range(4)] * 3 + [0, 1, 2, 3]}))
    sdc.Recipe(steps).apply(fine, watch=False)
    many = plan(pl.DataFrame({"a": ["x", "y"] * 14, "n": range(28)}))
    with pytest.raises(DataError, match=r"step 1 \(local_suppression\): these 2 columns have 28 different .* takes 5;"):
        sdc.Recipe(steps[1:]).apply(many, watch=False)


def test_types_that_do_not_come_back_are_refused() -> None:
    plan = duckdb_relation(pl.DataFrame({"a": [1]})).query("v", "SELECT 1.25::DECIMAL(9, 2) AS d, 1 AS a FROM v")
    with pytest.raises(DataError, match="column 'd' holds Decimal, which a plan does not get back"):
        sdc.Recipe([{"method": "round_to", "column": "d", "base": 1}]).apply(plan)
    assert sdc.Recipe([{"method": "drop_identifiers", "columns": ["d"]}]).apply(plan).data.columns == ["a"]


def test_nothing_stays_on_the_connection(tmp_path: Any) -> None:
    import duckdb

    connection = duckdb.connect()
    connection.register("own", pl.DataFrame({"a": ["x", "x", "y"] * 4 + ["z"], "b": [1] * 13}).to_arrow())
    steps = [{"method": "recode", "column": "b", "groups": {"one": [1]}},
             {"method": "local_suppression", "keys": ["a"], "k": 2}]  # fmt: skip
    applied = sdc.Recipe(steps).apply(connection.table("own"))
    sdc.write_file(applied.data, tmp_path / "out.parquet")
    names = connection.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    tables = connection.sql("SELECT table_name FROM duckdb_tables()").fetchall()
    assert (names, tables) == ([("own",)], [])


def test_a_step_that_breaks_an_edit_rule_is_named() -> None:
    """The step that makes children married is named, and of a plan that nobody looked."""
    file = pl.DataFrame({"age": [5, 9, 40, 50] * 5, "marital": ["single", "single", "married", "widowed"] * 5})
    rules = {"marital": {"when": {"age": {"below": 16}}, "value": "single"}}
    scenario = sdc.Scenario(keys=["age"], rules=rules)
    steps = [{"method": "recode", "column": "marital", "groups": {"married": ["single", "married"]}, "outside": "keep"}]
    recipe = sdc.Recipe([{"method": "random_order"}, *steps])
    with pytest.warns(SdcWarning, match=r"step 2 \(recode\) breaks an edit rule in records that kept it: where age"):
        recipe.apply(file, scenario=scenario, secret=SECRET, watch=False)
    objects = file.to_pandas().astype(object)  # as pandas keeps numbers beside None
    with pytest.warns(SdcWarning, match=r"step 2 \(recode\) breaks an edit rule"):
        recipe.apply(objects, scenario=scenario, secret=SECRET, watch=False)
    with pytest.warns(SdcWarning, match="were not held against the steps of a plan"):
        recipe.apply(file.lazy(), scenario=scenario, secret=SECRET, watch=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdc.Recipe([{"method": "random_order"}]).apply(file, scenario=scenario, secret=SECRET, watch=False)


def test_each_file_is_held_against_the_edit_rules_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flags of a step's result are those of the next step's input; random order asks for none."""
    held: list[list[int]] = []

    def watched(rule: Any, frame: Any) -> Any:
        held.append(frame.get_column("age").to_list()[:2])
        return breaking(rule, frame)

    monkeypatch.setattr("sdckit.data.rule_conditions.breaking", watched)
    file = pl.DataFrame({"age": [5, 9, 40, 50] * 5, "marital": ["single", "single", "married", "widowed"] * 5})
    rules = {"marital": {"when": {"age": {"below": 16}}, "value": "single"}}
    apart = [{"method": "recode", "column": "marital", "groups": {new: [old]}, "outside": "keep"}
             for old, new in (("widowed", "alone"), ("alone", "other"), ("other", "rest"))]  # fmt: skip
    for steps, times in ((apart, 4), ([*apart, {"method": "random_order"}], 4)):
        held.clear()
        sdc.Recipe(steps).apply(file, scenario=sdc.Scenario(keys=["age"], rules=rules), secret=SECRET, watch=False)
        assert len(held) == times
