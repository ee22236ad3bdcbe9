"""A recipe: applied, repeated, undone; the data it is given stay as they are."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from recipes import SECRET, STEPS, scenario, survey
from sdckit.errors import DataError, FileFormatError, ScenarioError, SdcWarning
from sdckit.workflow.recipes import recipe_runs
from sdckit.workflow.recipes.recipe import TrialRecipe
from sdckit.workflow.recipes.recipe_log import RecipeLog

RECIPE = sdc.Recipe(STEPS, title="Test")


def apply(data: Any = None, recipe: sdc.Recipe = RECIPE, **more: Any) -> sdc.Applied:
    given = {"scenario": scenario(), "seed": 5, "secret": SECRET, **more}
    return recipe.apply(survey() if data is None else data, **given)


def test_every_step_runs_in_its_order() -> None:
    applied = apply()
    assert [change.method for change in applied.log.steps] == [step["method"] for step in STEPS]
    assert applied.data.columns == survey().columns
    assert set(applied.data["age"].cast(pl.String).drop_nulls()) <= {"0-39", "40+"}
    assert sdc.k_anonymity(applied.data, keys=["sex", "age", "job"], k=[3]).violations[3] == 0


def test_it_is_what_the_functions_give_by_themselves() -> None:
    applied = apply()
    by_hand = sdc.recode(survey(), column="age", bands=[0, 40, None]).data
    seeds = [change.secret.get("seed") for change in applied.log.steps]
    by_hand = sdc.pram(by_hand, columns=["job"], pd=0.5, seed=seeds[1]).data
    by_hand = sdc.add_noise(by_hand, columns=["income"], noise=5.0, seed=seeds[2]).data
    by_hand = sdc.local_suppression(by_hand, scenario=scenario()).data
    assert applied.data.equals(by_hand)


def test_same_secret_and_seed_same_file_and_either_another_another() -> None:
    assert apply().data.equals(apply().data)
    assert apply().data.equals(apply(secret=SECRET.hex()).data)
    assert not apply().data.equals(apply(seed=6).data)
    assert not apply().data.equals(apply(secret=SECRET[::-1]).data)
    alone = apply(seed=None)
    assert (alone.log.seed, alone.log.secret) == (0, SECRET.hex())
    assert alone.data.equals(apply(seed=None).data)
    assert apply(seed=np.random.default_rng(1)).data.equals(apply(seed=np.random.default_rng(1)).data)


def test_a_seed_by_itself_repeats_nothing() -> None:
    one, other = (apply(secret=None, seed=2**70) for _ in range(2))
    assert one.log.secret != other.log.secret
    assert len(one.log.secret) == 64
    assert one.log.seed == other.log.seed == 2**70
    assert not one.data.equals(other.data)
    for applied in (one, other):
        assert sdc.Recipe.replay(survey(), applied.log).data.equals(applied.data)
    assert apply(secret=one.log.secret, seed=2**70).data.equals(one.data)


def test_a_short_seed_warns_where_it_is_mixed_with_a_secret_made_up() -> None:
    for seed in (0, 7, 1999, np.random.default_rng(7)):
        with pytest.warns(SdcWarning, match="can be guessed") as told:
            applied = apply(secret=None, seed=seed)
        assert len(told) == 1
        assert Path(told[0].filename).name == "test_recipe.py"
        assert sdc.Recipe.replay(survey(), applied.log).data.equals(applied.data)  # no second warning
    apply(secret=None, seed=7, recipe=sdc.Recipe(STEPS[:1]))  # draws nothing


@pytest.mark.parametrize("secret", [b"", bytes(15), "ab", "no hexadecimal", 5])
def test_a_secret_that_is_none(secret: object) -> None:
    with pytest.raises(DataError, match=r"^secret= ") as caught:
        apply(secret=secret)
    assert caught.value.argument == "secret"


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_prefix_draws_what_the_whole_drew(n: int) -> None:
    whole, part = apply(), apply(recipe=RECIPE.prefix(n))
    for before, after in zip(part.log.steps, whole.log.steps, strict=False):
        assert before.to_dict(internal=True) == after.to_dict(internal=True)
    if n == 3:
        assert part.data["income"].equals(whole.data["income"])


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_trial_goes_on_where_one_with_its_first_steps_ended(n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = apply(recipe=TrialRecipe(STEPS), watch=False)
    recipe = TrialRecipe(STEPS)
    recipe.begun = apply(recipe=TrialRecipe(STEPS[:n]), watch=False)
    ran, run_step = list[int](), recipe_runs.run_step
    monkeypatch.setattr(recipe_runs, "run_step", lambda at, *a, **how: ran.append(at) or run_step(at, *a, **how))
    gone_on = apply(recipe=recipe, watch=False)
    assert ran == [*range(n + 1, len(STEPS) + 1)]
    assert gone_on.data.equals(whole.data)
    assert gone_on.log.to_dict(internal=True) == whole.log.to_dict(internal=True)
    recipe.begun = apply(recipe=TrialRecipe(STEPS[1:2]), watch=False)  # not its first steps
    assert apply(recipe=recipe, watch=False).data.equals(whole.data)
    assert len(ran) == len(STEPS) - n + 1 + len(STEPS)


def test_the_data_stay_as_they_are() -> None:
    data = survey()
    apply(data)
    assert data.equals(survey())


@pytest.mark.parametrize("engine", ["pandas", "pyarrow"])
def test_on_other_engines(engine: str) -> None:
    frame = survey().to_pandas() if engine == "pandas" else survey().to_arrow()
    applied = apply(frame)
    assert type(applied.data) is type(frame)
    assert type(applied.steps) is type(frame)
    reference = apply()
    back = pl.from_pandas(applied.data) if engine == "pandas" else pl.from_arrow(applied.data)
    for name in ("age", "job", "income"):
        assert back[name].cast(pl.String).to_list() == reference.data[name].cast(pl.String).to_list()


def test_a_plan_gets_what_the_file_gets() -> None:
    here, there = apply(watch=False), apply(survey().lazy(), watch=False)
    assert there.log.to_dict(internal=True) == here.log.to_dict(internal=True)
    assert there.differing == here.differing


def test_from_a_file_and_back(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("job;kind\ncook;hand\nsmith;hand\nclerk;desk\nnurse;desk\n", encoding="utf-8")
    (tmp_path / "s.toml").write_text(scenario().to_toml(), encoding="utf-8")
    steps = [{"method": "recode", "column": "job", "hierarchy": "jobs.csv"}, *STEPS[2:]]
    written = sdc.Recipe(steps, title="A “title”", scenario="s.toml").to_toml()
    (tmp_path / "recipe.toml").write_text(written, encoding="utf-8")
    recipe = sdc.Recipe.from_toml(tmp_path / "recipe.toml")
    assert recipe.to_toml() == written
    assert recipe == sdc.Recipe(steps, title="A “title”", scenario="s.toml")
    applied = recipe.apply(survey(), seed=1, secret=SECRET)
    assert set(applied.data["job"].drop_nulls()) == {"hand", "desk"}
    assert applied.scenario == scenario()
    assert list(applied.log.files) == ["jobs.csv"]
    again = sdc.Recipe.replay(survey(), applied.log, folder=tmp_path)
    assert again.data.equals(applied.data)
    (tmp_path / "jobs.csv").write_text("job;kind\ncook;x\nsmith;x\nclerk;x\nnurse;x\n", encoding="utf-8")
    with pytest.raises(DataError, match="hierarchy is not the one of the log"):
        sdc.Recipe.replay(survey(), applied.log, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[steps]]\nmethod = 'pram\n", r"r.toml is not valid TOML: .*line 2"),
        ("titel = 'x'", "r.toml: a recipe has no entry 'titel'; did you mean 'title'"),
        ("title = 'x'", "at least one step"),
        ("[[steps]]\nmethod = 'prma'", "did you mean 'pram'"),
        ("[[steps]]\ncolumn = 'prma'", "step 1 names no method"),
    ],
)
def test_a_bad_file(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "r.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ScenarioError, match=said):
        sdc.Recipe.from_toml(tmp_path / "r.toml")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"there is no recipe no.toml"):
        sdc.Recipe.from_toml(tmp_path / "no.toml")


def test_a_scenario_that_is_no_file_name_is_refused() -> None:
    with pytest.raises(ScenarioError, match="names its file; a Scenario goes to apply"):
        sdc.Recipe(STEPS, scenario=scenario())  # type: ignore[arg-type]


@pytest.mark.parametrize("steps", ["pram", {"method": "pram"}, 3, []])
def test_steps_that_are_no_list(steps: Any) -> None:
    with pytest.raises(ScenarioError, match=r"list|at least one step"):
        sdc.Recipe(steps)


# --- keys, replay, another file ----------------------------------------------------------------------

IDS = sdc.Recipe([{"method": "new_ids", "column": "name"}, STEPS[1]])


def test_replay_is_bit_for_bit(tmp_path: Path) -> None:
    applied = IDS.apply(survey())  # seed and key are made up
    log = applied.log.write(tmp_path / "log.json")
    assert sdc.Recipe.replay(survey(), log).data.equals(applied.data)
    assert sdc.Recipe.replay(survey(), applied.log).data.equals(applied.data)
    assert not IDS.apply(survey()).data.equals(applied.data)


def test_replay_tells_another_file(tmp_path: Path) -> None:
    log = IDS.apply(survey(), seed=1, secret=SECRET).log
    with pytest.raises(DataError, match="another file"):
        sdc.Recipe.replay(survey(n=60), log)
    with pytest.raises(DataError, match=r"step 2 \(pram\) changed other values"):
        sdc.Recipe.replay(survey(seed=8), log)
    parts = {name: getattr(log, name) for name in log.__dataclass_fields__}
    with pytest.warns(SdcWarning, match=r"made with numpy 0.1"):
        sdc.Recipe.replay(survey(), RecipeLog(**{**parts, "versions": {**log.versions, "numpy": "0.1"}}))


def test_a_key_given_links_files() -> None:
    key = bytes(range(16))
    first = IDS.apply(survey(), id_keys={"name": key}, seed=1, secret=SECRET).data["name"]
    second = IDS.apply(survey().tail(10), id_keys={"name": key.hex()}, seed=2, secret=SECRET).data["name"]
    assert second.to_list() == first.tail(10).to_list()
    with pytest.raises(ScenarioError, match="did you mean 'name'"):
        IDS.apply(survey(), id_keys={"nam": key})
    twice = sdc.Recipe([{"method": "new_ids", "column": "name"}] * 2)
    with pytest.raises(ScenarioError, match="two steps"):
        twice.apply(survey())


def test_next_years_file() -> None:
    applied = apply(survey(n=90, seed=9))
    assert applied.log.n == 90
    with pytest.raises(DataError, match=r"step 1 \(recode\).*in no band"):
        apply(survey().with_columns(age=pl.col("age") - 60))


def test_arguments_by_path() -> None:
    changed = RECIPE.with_argument("4.k", 5).with_argument("pram.pd", 0.9)
    assert changed.steps[3].arguments["k"] == 5
    assert changed.steps[1].arguments["pd"] == 0.9
    assert RECIPE.steps[3].arguments["k"] == 3
    for path, said in (
        ("k", "names no argument"),
        ("9.k", "steps 1 to 4"),
        ("prma.k", "did you mean 'pram'"),
        ("pram.colums", "did you mean 'columns'"),
    ):
        with pytest.raises(ScenarioError, match=said):
            RECIPE.with_argument(path, 1)
    with pytest.raises(ScenarioError, match="steps 1, 2 are pram"):
        sdc.Recipe([STEPS[1], STEPS[1]]).with_argument("pram.pd", 1.0)


@pytest.mark.parametrize("n", [0, 5, True, "1"])
def test_a_prefix_that_is_none(n: Any) -> None:
    with pytest.raises(ScenarioError, match="steps 1 to 4"):
        RECIPE.prefix(n)


def test_several_synthetic_files_come_last() -> None:
    recipe = sdc.Recipe([STEPS[0], {"method": "synthesize", "m": 2, "columns": ["income"]}])
    applied = apply(survey(), recipe, watch=True)
    assert len(applied.data) == 2
    assert not applied.data[0].equals(applied.data[1])
    assert recipe.is_random
    assert not sdc.Recipe(STEPS[:1]).is_random
    assert not sdc.Recipe(STEPS[3:]).is_random
    assert sdc.Recipe([{**STEPS[3], "hide_implied": True}]).is_random


def test_a_step_says_what_it_does() -> None:
    told: list[str] = []
    apply(step=told.append)
    assert told == [f"step {n} of 4: {step['method']}" for n, step in enumerate(STEPS, 1)]
    with pytest.raises(ScenarioError, match="takes a Scenario"):
        apply(scenario="s.toml")


def test_what_is_taken_out_to_hide_others_is_taken_out_again_in_a_replay():
    recipe = sdc.Recipe([{"method": "local_suppression", "keys": ["sex", "job", "age"], "k": 3, "hide_implied": True}])
    data = sdc.recode(survey(150), column="age", bands=[0, 30, 40, 60, None]).data
    plain = sdc.local_suppression(data, keys=["sex", "job", "age"], k=3).change
    applied = recipe.apply(data, seed=4, secret=SECRET)
    assert applied.log.steps[0].n_changed > plain.n_changed
    assert applied.log.steps[0].parameters["n_implied"] == 0 < plain.parameters["n_implied"]
    assert sdc.Recipe.replay(data, applied.log).data.equals(applied.data)
    other = [recipe.apply(data, seed=seed, secret=SECRET).data for seed in range(6)]
    assert any(not one.equals(applied.data) for one in other)


# What a recipe gives: frames of figures, an assessment against the original, a report.


APPLIED_RECIPE = sdc.Recipe(STEPS)


@pytest.fixture(scope="module")
def applied() -> sdc.Applied:
    return APPLIED_RECIPE.apply(survey(), scenario=scenario(), seed=987654, secret=SECRET)


def test_the_frames(applied: sdc.Applied) -> None:
    steps = applied.steps
    assert steps["step"].to_list() == [0, 1, 2, 3, 4]
    assert steps["method"].to_list()[0] == "before"
    assert steps["below_k"].to_list()[-1] == 0
    assert steps["share_changed"].to_list() == sorted(steps["share_changed"].to_list())
    variables = dict(applied.variables.select("variable", "changed").rows())
    assert variables["name"] == variables["w"] == 0
    assert variables["age"] == 120
    assert applied.variables["share"].to_list()[2] == 1.0


def test_it_is_assessed_beside_its_original(applied: sdc.Applied) -> None:
    found = applied.assess(seed=1)
    assert found.aligned
    assert [verdict.holds for verdict in found.verdicts] == [True]
    assert any("age (numbers in bands): the original is compared" in text for text in found.warnings)
    assert found.what_was_done is not None
    assert found.what_was_done.log == applied.log.without_secrets()


def test_attacks_control_and_models_are_those_of_an_assessment(applied: sdc.Applied) -> None:
    told: list[str] = []
    with pytest.warns(SdcWarning, match="60 of 60 records of the control file"):
        found = applied.assess(
            seed=1, attacks=True, control=survey().head(60), models="income ~ age", step=told.append
        )  # fmt: skip
    assert found.control
    assert found.attacks
    assert found.models == (("income ~ age", "linear"),)
    assert any("attacking" in text for text in told)


def test_a_fully_synthetic_row_is_nobodys() -> None:
    full = sdc.Recipe([{"method": "synthesize", "models": "sample"}])
    data = survey().select("sex", "age", "job", "income", "w")
    assert not full.apply(data, scenario=scenario(), seed=1, secret=SECRET, watch=False)._aligned()
    part = sdc.Recipe([{"method": "synthesize", "models": "sample", "columns": ["income"]}])
    assert part.apply(data, scenario=scenario(), seed=1, secret=SECRET, watch=False)._aligned()


def test_the_report_tells_what_was_done(applied: sdc.Applied, tmp_path: Path) -> None:
    applied.report(tmp_path / "r.md", seed=1)
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "What was done" in text
    assert "suppression" in text.split("What was done")[1].split("Before and after")[0]
    for secret in (str(applied.log.seed), "pd =", "person 1", "0.5;"):
        assert secret not in text.split("What was done")[1].split("Before and after")[0]


def test_without_a_scenario(applied: sdc.Applied) -> None:
    bare = sdc.Recipe(STEPS[:1]).apply(survey(), seed=1, secret=SECRET)
    assert bare.steps["intruder"].to_list() == ["", ""]
    with pytest.raises(ScenarioError, match="needs a scenario"):
        bare.assess()
    assert "1. recode: 120 values changed" in repr(bare)
    assert "person" not in repr(applied)


def test_a_key_that_was_left_out_is_told() -> None:
    steps = [{"method": "drop_identifiers", "columns": ["age"]}, {"method": "pram", "columns": ["sex"], "pd": 0.5}]
    scene = scenario(keys=None, intruders={"a": ["sex", "age"], "b": ["age"]}, missing={"age": "category"})
    found = sdc.Recipe(steps).apply(survey(), scenario=scene, seed=1, secret=SECRET).assess(seed=1)
    assert [one.name for one in found.intruders] == ["a", "b"]
    assert "age: left out of the release, so it is no key of an intruder there" in found.warnings
    none = sdc.Recipe(steps).apply(survey(), scenario=scenario(keys=["age"]), seed=1, secret=SECRET)
    (verdict,) = [own for own in none.assess(seed=1)["default"].verdicts if own.name == "k"]
    assert verdict.holds
    assert verdict.keyless.startswith("all keys of this intruder were left out of the release, and no column")


# The entry `derived`: columns computed from released ones after the last step.


PAY = pl.DataFrame(
    {"wage": [1490, 2510, 3300, None], "rest": [10, 20, 30, 40], "name": ["a", "b", "c", "d"]}
).with_columns(total=pl.col("wage") + pl.col("rest"), annual=12 * pl.col("wage"))
ROUNDED = {"method": "round_to", "column": "wage", "base": 500}
DERIVED = {"all": "annual + rest", "annual": "12 * wage", "total": "wage + rest"}


def test_derived_columns_follow_from_released_ones(tmp_path: Path) -> None:
    survey = PAY.with_columns(all=pl.lit(0))
    made = sdc.Recipe([ROUNDED, {"method": "random_order"}], derived=DERIVED)
    applied = made.apply(survey, secret=SECRET)
    released = applied.data
    assert released["total"].equals(released["wage"] + released["rest"])
    assert released["all"].equals(12 * released["wage"] + released["rest"])
    assert applied.log.steps[-1].changed == {"annual": 3, "total": 3, "all": 4}
    assert [figure.step for figure in applied.figures] == [0, 1, 2, 3]
    (tmp_path / "r.toml").write_text(made.to_toml())
    assert sdc.Recipe.from_toml(tmp_path / "r.toml") == made != sdc.Recipe(made_steps(made))
    applied.log.write(tmp_path / "log.json")
    assert sdc.Recipe.replay(survey, tmp_path / "log.json").data.equals(released)
    before = sdc.Recipe([ROUNDED], derived=DERIVED).apply(survey)
    assert before.data.sort("rest").equals(released.sort("rest"))
    undone = made.prefix(2).apply(survey, secret=SECRET).data
    assert undone.sort("rest")["total"].equals(survey["total"])


def made_steps(recipe: sdc.Recipe) -> list[dict[str, Any]]:
    return [{"method": step.method, **step.arguments} for step in recipe.steps]


def test_derived_columns_of_several_files_and_of_plans() -> None:
    several = sdc.Recipe([{"method": "synthesize", "columns": ["wage"], "m": 2}], derived={"total": "wage + rest"})
    for data in (PAY.drop_nulls(), PAY.drop_nulls().lazy()):
        files = several.apply(data, secret=SECRET).data
        for file in files:
            whole = file.lazy().collect()
            assert whole["total"].equals(whole["wage"] + whole["rest"])
    assert several.with_argument("1.m", 3).derived == several.derived


@pytest.mark.parametrize(
    ("steps", "derived", "error", "says"),
    [
        ([ROUNDED], {"total": "wagge + rest"}, ScenarioError, "derived: total: no column 'wagge' .* 'wage'"),
        ([ROUNDED], {"total": "name + rest"}, DataError, "column 'name' holds no numbers; recompute"),
        (
            [{"method": "recode", "column": "wage", "bands": 3}], {"total": "wage + rest"}, DataError,
            r"derived: column 'wage' holds no numbers after step 1 \(recode\)",
        ),
        (
            [{"method": "drop_identifiers", "columns": ["rest"]}], {"total": "wage + rest"}, ScenarioError,
            r"derived: total: column 'rest' is gone, step 1 \(drop_identifiers\) left it out",
        ),
        ([ROUNDED], {"wage": "total - rest"}, ScenarioError, r"wage is computed after .* step 1 \(round_to\)"),
        (
            [{"method": "drop_identifiers", "columns": ["total"]}], {"total": "wage + rest"}, ScenarioError,
            "total is computed after the last step",
        ),
        (
            [{"method": "local_suppression", "keys": ["total", "name"], "k": 1}], {"total": "wage + rest"},
            ScenarioError, r"step 1 \(local_suppression\) changes it in vain",
        ),
        ([ROUNDED], {"total": "wage +"}, ScenarioError, "derived: total: its formula cannot be read"),
    ],
)  # fmt: skip
def test_derived_entries_that_do_not_fit_are_told_before_any_work(
    steps: list[dict[str, Any]], derived: dict[str, str], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        sdc.Recipe(steps, derived=derived).check(PAY)


def test_texts_that_only_the_step_makes_are_told_without_output() -> None:
    grouped = {"method": "recode", "column": "wage", "groups": {"low": [1490], "high": [2510, 3300]}}
    with pytest.raises(DataError, match=r"step 2 \(recompute\): .*'wage'"):
        sdc.Recipe([grouped], derived={"total": "wage + rest"}).apply(PAY)


def test_a_derived_key_is_not_suppressed_in_vain() -> None:
    scenario = sdc.Scenario(keys=["total"], thresholds={"k": 2})
    with pytest.raises(ScenarioError, match=r"step 1 \(local_suppression\) changes it in vain"):
        sdc.Recipe([{"method": "local_suppression"}], derived={"total": "wage + rest"}).check(PAY, scenario=scenario)


def test_a_recomputed_column_counts_as_changed_by_the_recipe() -> None:
    from sdckit.workflow.recoded_original.published_recodings import read_recodings

    made = sdc.Recipe([ROUNDED], derived={"total": "wage + rest"})
    recodings = read_recodings(made, None)
    assert recodings is not None
    assert recodings.unchanged(PAY.columns) == ("wage", "rest", "name", "annual")
    logged = read_recodings(made, made.apply(PAY).log)
    assert logged is not None
    assert logged.unchanged(PAY.columns) == ("wage", "rest", "name", "annual")


def test_the_report_says_what_follows_from_what() -> None:
    from sdckit.report.chapters.recipe_chapter import plain_recipe, recipe_section

    large = pl.concat([PAY] * 30)
    done = sdc.Recipe([ROUNDED], derived={"total": "wage + rest"}).apply(large).what_was_done
    section = recipe_section(plain_recipe(done))
    assert "Computed anew from columns as they are released: total: wage + rest." in str(section.blocks)


def test_a_trial_makes_the_same_file_and_log_and_counts_nothing() -> None:
    data = pl.DataFrame({"age": [31, 33, 58, 61] * 20, "job": ["cook", "smith"] * 40, "w": [1.5, 2.5] * 40})
    known = sdc.Scenario(keys=["age", "job"], weight="w", thresholds={"k": 3})
    steps = [
        {"method": "recode", "column": "age", "bands": [0, 40, None]}, {"method": "pram", "columns": ["job"]},
        {"method": "random_order"},
    ]  # fmt: skip
    how: dict[str, Any] = {"scenario": known, "secret": "00" * 32, "watch": False}
    with pytest.warns(SdcWarning, match="its values occur with one value of job"):
        made = sdc.Recipe(steps).apply(data, **how)
    with warnings.catch_warnings(action="error"):
        tried = TrialRecipe(steps).apply(data, **how)
    assert made.data.equals(tried.data)
    assert made.log.to_dict(internal=True) == tried.log.to_dict(internal=True)
    assert (made.differing["age"], tried.differing) == (80, {})
