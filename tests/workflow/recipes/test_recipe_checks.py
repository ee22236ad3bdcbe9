"""What does not fit is told before the first step runs, with the step."""

from __future__ import annotations

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from recipes import STEPS, scenario, survey
from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError, SdcWarning
from sdckit.workflow.recipes.recipe_checks import (
    StepLike,
    call_arguments,
    checked_step,
    checked_steps,
    columns_mentioned,
    columns_used,
    digests,
    hierarchies,
    naming,
    placed,
    read_steps,
    require_reach,
)

DROP = {"method": "drop_identifiers", "columns": ["name"]}
BANDED = {"method": "recode", "column": "age", "bands": [0, 40, None]}
IDS = {"method": "new_ids", "column": "w"}
SYNTHESIS = {"method": "synthesize", "m": 2}
PRAM = {"method": "pram", "columns": ["job"]}

BAD: list[tuple[list[dict[str, Any]], type[Exception], str]] = [
    ([{"method": "pram", "columns": ["jobb"]}], ColumnError, r"step 1 \(pram\), columns: no column 'jobb'.*'job'"),
    ([DROP, {"method": "pram", "columns": ["name"]}], ColumnError, r"step 2.*is gone, step 1 \(drop_identifiers\)"),
    ([{"method": "microaggregate", "columns": ["job"]}], DataError, r"'job' holds no numbers"),
    ([{"method": "recode", "column": "job", "bands": 3}], DataError, "group its values"),
    ([{"method": "recode", "column": "income", "period": "year"}], DataError, "holds numbers, no dates"),
    ([{"method": "recode", "column": "job", "period": "year"}], DataError, "holds no dates"),
    ([IDS, {"method": "round_to", "column": "w", "base": 1}], DataError, r"step 2.*no numbers"),
    ([{"method": "microaggregate", "columns": ["income"], "k": 500}], DataError, "k = 500 is more than the 120"),
    ([{"method": "local_suppression", "keys": ["sex"]}], DataError, "say which k"),
    ([{"method": "local_suppression", "k": 3}], ScenarioError, "which variables an intruder knows"),
    (
        [{"method": "local_suppression", "keys": ["sex", "job"], "k": 3, "importance": ["sex", "jbo"]}],
        ColumnError,
        "'jbo' is not one of the keys",
    ),
    ([{"method": "recode", "column": "job", "groups": {"x": ["cook"]}}], DataError, r"step 1 \(recode\).*in no group"),
    ([{"method": "recode", "column": "job", "hierarchy": "no.csv"}], Exception, "no such file"),
    (
        [{"method": "suppress_above", "risk": "individual_risk", "threshold": 0.1, "columns": ["job"]}],
        ScenarioError,
        "measured under a scenario",
    ),
    ([{"method": "local_suppression", "keys": ["sex"], "k": 2, "intruder": "x"}], ScenarioError, "no scenario"),
    (
        [DROP, {**PRAM, "matrix": {"job": {"cook": {"cook": 0.9}}}}],
        DataError,
        r"step 2 \(pram\): matrix of 'job' is not stochastic",
    ),
    ([SYNTHESIS, PRAM], ScenarioError, "must be the last step"),
]


@pytest.mark.parametrize(("steps", "kind", "said"), BAD, ids=range(len(BAD)))
def test_it_is_refused_before_any_step(
    steps: list[dict[str, Any]], kind: type[Exception], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sdckit.workflow.recipes import recipe_runs

    monkeypatch.setattr(recipe_runs, "run_step", lambda *_, **__: pytest.fail("a step ran"))
    with pytest.raises(kind, match=said) as caught:
        sdc.Recipe(steps).apply(survey())
    assert "cook" not in str(caught.value)


def test_a_key_that_a_step_left_out_is_named_with_those_that_are_left() -> None:
    """The suppression only said that there is no such column in the data."""
    gone = {"method": "drop_identifiers", "columns": ["age"]}
    with pytest.raises(ScenarioError, match=r"step 1 \(drop_identifiers\) leaves out age.*keys = \[\"sex\", \"job\"\]"):
        sdc.Recipe([gone, {"method": "local_suppression"}]).apply(survey(), scenario=scenario())
    sdc.Recipe([gone, {"method": "local_suppression", "keys": ["sex", "job"]}]).apply(survey(), scenario=scenario())


def test_under_a_scenario() -> None:
    recipe = sdc.Recipe([{"method": "local_suppression", "intruder": "y"}])
    with pytest.raises(ScenarioError, match="there is no intruder 'y'"):
        recipe.check(survey(), scenario=scenario())
    several = scenario(keys=None, intruders={"a": ["sex"], "b": ["job"]})
    by_risk = {"method": "suppress_above", "risk": "individual_risk", "threshold": 0.1, "columns": ["job"]}
    for step in (by_risk, {"method": "local_suppression", "k": 2}):
        with pytest.raises(ScenarioError, match=r'step 2 .*\(\'a\', \'b\'\); name the one .* intruder = "a"$'):
            sdc.Recipe([DROP, step]).check(survey(), scenario=several)
        sdc.Recipe([DROP, {**step, "intruder": "b"}]).check(survey(), scenario=several)
    with pytest.raises(ScenarioError, match="several intruders"):
        sdc.Recipe([{"method": "local_suppression"}]).check(survey(), scenario=several)
    sdc.Recipe([{"method": "local_suppression", "intruder": "b"}]).check(survey(), scenario=several)
    with pytest.raises(ColumnError, match="'w'"):
        sdc.Recipe([PRAM]).check(survey().drop("w"), scenario=scenario())


def test_an_identifier_that_would_go_out_is_warned_of() -> None:
    with pytest.warns(SdcWarning, match="name: a direct identifier"):
        sdc.Recipe([PRAM]).check(survey(), scenario=scenario(identifiers=["name"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sdc.Recipe([DROP]).check(survey(), scenario=scenario(identifiers=["name", "absent"]))


def test_what_a_column_is_after_a_recoding_shows_only_then() -> None:
    first = {"method": "recode", "column": "job", "groups": {"x": ["cook"]}, "outside": "missing"}
    second = {"method": "recode", "column": "job", "bands": 2}
    recipe = sdc.Recipe([first, second])
    recipe.check(survey())
    with pytest.raises(DataError, match=r"step 2 \(recode\)"):
        recipe.apply(survey())


def test_arguments_as_the_method_takes_them(tmp_path: Path) -> None:
    step = StepLike("recode", {"column": "job", "hierarchy": "h.csv", "how": "log"})
    given = call_arguments(step, scenario=None, folder=tmp_path)
    assert given == {"column": "job", "hierarchy": tmp_path / "h.csv", "how": "log"}
    suppression = StepLike("local_suppression", {"intruder": "default"})
    assert call_arguments(suppression, scenario=scenario(), folder=None)["scenario"].keys == ("sex", "age", "job")


@pytest.mark.parametrize("step", ["pram", {"columns": ["a"]}, {"method": "pram", 3: 1, "columns": ["a"]}])
def test_a_step_that_is_none(step: Any) -> None:
    with pytest.raises(ScenarioError, match="step 4"):
        checked_step(4, step)


def test_columns_that_steps_change() -> None:
    assert columns_used(sdc.Recipe([DROP, *STEPS]).steps) == {"name", "age", "job", "income"}


def test_columns_that_steps_name() -> None:
    steps = [*STEPS, {"method": "microaggregate", "columns": ["w"], "strata": ["sex"]}]
    assert columns_mentioned(sdc.Recipe(steps).steps) == ("age", "job", "income", "w", "sex")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("k= takes a whole number", "step 2 (pram): k takes a whole number"),
        ("give k=[2, 3], or none", "step 2 (pram): give k = [2, 3], or none"),
        ("k counts records; give keys= too", "step 2 (pram): k counts records; give keys= too"),
    ],
)
def test_an_error_of_a_step_keeps_its_argument_in_the_words_of_a_recipe(said: str, told: str) -> None:
    error = placed(DataError(said, argument="k"), "step 2 (pram)")
    assert (type(error), str(error), error.argument) == (DataError, told, "k")


# The file of a recipe: steps, hierarchies, and messages with its name.


UP = {"method": "recode", "column": "x", "hierarchy": "x.csv", "level": 1}


def test_steps_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('[[steps]]\nmethod = "round_to"\ncolumn = "x"\nbase = 5\n')
    assert [one.method for one in read_steps(path)] == ["round_to"]
    path.write_text('[[steps]]\nmethod = "round_to"\ncolumn = "x"\n')
    with pytest.raises(ScenarioError, match=r"r\.toml: step 1 \(round_to\): round_to needs 'base'"):
        read_steps(path)
    with pytest.raises(FileFormatError, match="there is no recipe"):
        read_steps(tmp_path / "none.toml")
    with pytest.raises(ScenarioError, match="at least one step"):
        checked_steps({"steps": []})


def test_digests_know_a_file_again(tmp_path: Path) -> None:
    steps = checked_steps({"steps": [UP, UP]})
    assert hierarchies(steps) == ("x.csv",)
    assert digests(steps, tmp_path) == {}
    (tmp_path / "x.csv").write_text("1;a\n")
    before = digests(steps, tmp_path)
    (tmp_path / "x.csv").write_text("1;b\n")
    assert before != digests(steps, tmp_path)
    assert list(before) == ["x.csv"]


def test_a_message_has_the_name_once() -> None:
    with pytest.raises(ScenarioError, match=r"^r\.toml: no$"), naming(Path("r.toml")):
        raise ScenarioError("no")
    with pytest.raises(ScenarioError, match=r"^r\.toml, line 2: no$"), naming(Path("r.toml")):
        raise ScenarioError("r.toml, line 2: no")


def test_decimals_of_pandas_are_numbers():
    data = pl.DataFrame({"inc": [Decimal("1.25"), None, Decimal("12.50")], "job": ["a", "b", "c"]})
    recipe = sdc.Recipe([{"method": "round_to", "column": "inc", "base": 5}])
    made = recipe.apply(data.to_pandas()).data["inc"].tolist()
    assert [made[0], made[2]] == recipe.apply(data).data["inc"].drop_nulls().to_list() == [0, 10]
    with pytest.raises(DataError, match="'job' holds no numbers"):
        recipe.with_argument("1.column", "job").apply(data.to_pandas())


# Limits that no release with a key can hold.


def people(n: int = 600) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "sex": rng.choice(["f", "m"], n),
            "pay": rng.normal(2500, 500, n).round(1),
            "w": 100.0,
            "who": np.arange(n) // 2,
        }
    )


@pytest.mark.parametrize(
    ("limit", "sample", "least"),
    [
        ({"risk": 1e-9}, {}, "0.0017"),  # one in 600
        ({"global_risk": 0.001}, {}, "0.0017"),
        ({"risk": 1e-9}, {"weight": "w"}, "0.000017"),
        ({"k": 3, "risk": 1e-9}, {"sampling_fraction": 0.01}, "0.000017"),
        ({"risk": 1e-9}, {"person": "who"}, "0.0034"),  # 300 people
    ],
)
def test_a_limit_out_of_reach_is_named_and_no_key(limit: dict[str, float], sample: dict[str, Any], least: str) -> None:
    """It was said that suppression would leave no value of a key, and to make that one coarser."""
    data = people()
    given = sdc.Scenario(keys=["age", "sex", "pay"], thresholds=limit, **sample)
    name = [*limit][-1]
    for search in (sdc.starter_recipe, sdc.propose):
        with pytest.raises(
            sdc.ScenarioError, match=rf"thresholds.{name}: the limit is out of reach .* to {least} or more$"
        ) as refused:
            search(data, scenario=given)
        assert "'age'" not in str(refused.value)
        assert "no value of" not in str(refused.value)
        with pytest.raises(sdc.ScenarioError, match="no group is larger than the"):
            search(data, scenario=given.changed(thresholds={"k": 601}))


def test_a_limit_that_records_reach_when_all_are_alike_is_in_reach() -> None:
    data = people(40)
    for limits in ({"k": 40}, {"risk": 1 / 40}, {"global_risk": 0.025}, {"risk": 0.0251, "k": 2}):
        require_reach(data, sdc.Scenario(keys=["age"], thresholds=limits))
    with pytest.raises(sdc.ScenarioError, match=r"raise it to 0\.025 or more"):
        require_reach(data, sdc.Scenario(keys=["age"], thresholds={"risk": 0.0249}))
