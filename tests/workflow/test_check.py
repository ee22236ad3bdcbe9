"""The gate as a function: every declared threshold has a verdict, or nothing passes."""

from __future__ import annotations

import dataclasses
import gc
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from redteam.marked import make_files, traces_in, write as write_marked
from sdckit.errors import ColumnError
from sdckit.report.formats.write import plain_document
from sdckit.workflow.check import check_assessment, told_verdicts


@pytest.fixture
def people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "sex": ["f"] * 4 + ["m"] * 5,
            "age": [30, 30, 41, 41, 30, 30, 41, 41, 60],
            "ill": ["a", "b", "a", "b", "a", "b", "a", "b", "a"],
        }
    )


def scenario(keys: list[str] | None = None, **limits: float) -> sdc.Scenario:
    return sdc.Scenario(keys=keys or ["sex", "age"], sensitive=["ill"], thresholds=limits)


def test_it_passes_where_everything_holds(people: pl.DataFrame) -> None:
    result = sdc.check(people, scenario=scenario(["sex"], k=4, l=2))
    assert result.passed
    assert bool(result)
    assert [verdict.name for verdict in result.verdicts] == ["k", "l"]
    assert not result.exceeded
    assert not result.undefined


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")  # the release is the file
@pytest.mark.parametrize("compared", [False, True])
def test_it_measures_what_its_limits_read_and_says_so_of_the_rest_on_an_engine_and_in_memory(
    people: pl.DataFrame, *, compared: bool
) -> None:
    many = pl.concat([people] * 8).with_row_index("pid")
    asked = {"scenario": scenario(["sex", "age"], k=2), "id": "pid"} if compared else {"scenario": scenario(k=2)}
    made = [sdc.check(of(many), of(many) if compared else None, **asked) for of in (pl.DataFrame, pl.DataFrame.lazy)]
    for whole in (made[0], made[1]):
        files = [whole.assessment, *getattr(whole.assessment, "released", ())]
        measured = {place.partition(":")[0] for file in files for intruder in file for place in file[intruder].results}
        assert measured == {
            "key_frequencies",
            "individual_risk",
            "k_anonymity",
            *(["recoverable_values"] if compared else []),
        }
        skipped = dict(files[-1]["default"].skipped)
        assert skipped["l_diversity"] == "no limit of the scenario reads it"
    memory, engine = ([verdict.holds for verdict in whole.verdicts] for whole in made)
    assert memory == engine
    assert made[0].assessment.coverage == made[1].assessment.coverage
    if compared:
        assert "prediction_risk:ill" in dict(made[0].assessment["default"].skipped)
        assert made[0].assessment.utility is None


def test_one_threshold_exceeded_is_enough(people: pl.DataFrame) -> None:
    result = sdc.check(people, scenario=scenario(k=2, risk=1.0))
    assert not result.passed
    assert not bool(result)
    assert [(verdict.name, verdict.n_records) for verdict in result.exceeded] == [("k", 1)]


def test_every_intruder_is_judged(people: pl.DataFrame) -> None:
    both = sdc.Scenario(intruders={"one": ["sex"], "two": ["sex", "age"]}, thresholds={"k": 2})
    result = sdc.check(people, scenario=both)
    assert [(verdict.intruder, verdict.holds) for verdict in result.verdicts] == [("one", True), ("two", False)]


def test_without_thresholds_it_refuses(people: pl.DataFrame) -> None:
    with pytest.raises(sdc.ScenarioError, match="declares no threshold"):
        sdc.check(people, scenario=scenario())


def test_guesses_that_nobody_confirmed_are_no_gate(people: pl.DataFrame) -> None:
    guessed = sdc.Scenario(keys=["sex"], thresholds={"k": 4}, unconfirmed=["sex", "ill"])
    with pytest.raises(sdc.ScenarioError, match=r"not confirmed: .* 'sex', 'ill'\..*delete its name") as refused:
        sdc.check(people, scenario=guessed)
    with pytest.warns(sdc.SdcWarning, match="guess that is not confirmed: .*'sex', 'ill'") as told:
        assessment = sdc.assess(people, scenario=guessed)
    assert len(told) == 1
    assert assessment.warnings[0] == str(told[0].message)
    assert assessment.verdicts[0].holds  # the figures are there to be explored
    with pytest.raises(sdc.ScenarioError, match="not confirmed"):
        check_assessment(assessment)
    assert "threshold" not in str(refused.value)
    unedited = sdc.Scenario(keys=["sex"], unconfirmed=["sex"])
    with pytest.raises(sdc.ScenarioError, match="not confirmed"):
        sdc.check(people, scenario=unedited)


def test_a_document_names_guesses_that_nobody_confirmed_without_a_hidden_number(people: pl.DataFrame) -> None:
    """A count of columns behind the list would be hidden as a count of people is: "and <50 more"."""
    columns = [f"c{at}" for at in range(9)]
    frame = pl.concat([people] * 10).with_columns(pl.lit(1).alias(name) for name in columns)
    guessed = sdc.Scenario(keys=["age", "sex"], insensitive=columns, unconfirmed=columns)
    with pytest.warns(sdc.SdcWarning, match="not confirmed"):
        document = plain_document(sdc.assess(frame, scenario=guessed))
    (warning,) = [text for text in document["warnings"] if "not confirmed" in text]
    assert "guessed of 'c0', 'c1', " in warning
    assert "'c7', …. Figures" in warning


def test_a_release_is_no_gate_either(people: pl.DataFrame) -> None:
    guessed = sdc.Scenario(keys=["sex"], thresholds={"k": 4}, unconfirmed=["ill"], aligned=True)
    with pytest.raises(sdc.ScenarioError, match="not confirmed"):
        sdc.check(people, people.reverse(), scenario=guessed)
    released = people.with_columns(sex=pl.Series(["f", "m", *["f"] * 2, "f", *["m"] * 4]))
    with pytest.warns(sdc.SdcWarning, match="not confirmed") as told:
        assessment = sdc.assess(people, released, scenario=guessed)
    assert sum("not confirmed" in str(one.message) for one in told) == 1
    assert "not confirmed" in assessment.warnings[0]


def test_a_threshold_without_its_roles_is_undefined(people: pl.DataFrame) -> None:
    lacking = sdc.Scenario(keys=["sex"], thresholds={"k": 2, "l": 2, "household_risk": 0.5})
    result = sdc.check(people, scenario=lacking)
    assert not result.passed
    assert {verdict.name for verdict in result.undefined} == {"l", "household_risk"}
    assert all(verdict.reason for verdict in result.undefined)


def test_a_verdict_that_is_not_there_is_not_held(people: pl.DataFrame) -> None:
    assessment = sdc.assess(people, scenario=scenario(["sex"], k=2, l=2))
    assert check_assessment(assessment).passed
    silent = dataclasses.replace(
        assessment, intruders=tuple(dataclasses.replace(one, verdicts=()) for one in assessment.intruders)
    )
    result = check_assessment(silent)
    assert not result.passed
    assert [(verdict.name, verdict.variable) for verdict in result.undefined] == [("k", None), ("l", "ill")]


def test_any_engine_will_do(people: pl.DataFrame) -> None:
    for data in (people, people.to_pandas(), people.to_arrow(), people.lazy()):
        assert sdc.check(data, scenario=scenario(["sex"], k=4)).passed


# What a gate tells others is what its protected document prints, limit by limit.


def verdicts_people(n: int = 400, rare: int = 3, seed: int = 4) -> pl.DataFrame:
    """Two large groups with the same keys, and a few records that are alone or nearly so."""
    rng = np.random.default_rng(seed)
    age = np.repeat([30, 50], [n // 2, n - n // 2])
    age[:rare] = np.arange(60, 60 + rare)
    return pl.DataFrame({"sex": ["fm"[i % 2] for i in range(n)], "age": age, "ill": rng.choice(["yes", "no"], n)})


def verdicts_scenario(**limits: float) -> sdc.Scenario:
    return sdc.Scenario(keys=["sex", "age"], sensitive=["ill"], thresholds=limits)


def test_small_counts_are_hidden() -> None:
    result = sdc.check(verdicts_people(), scenario=verdicts_scenario(k=3))
    assert "3 records are" in result.exceeded[0].sentence
    (told,) = result.told().verdicts
    assert (told.name, told.intruder, told.variable, told.release) == ("k", "default", None, None)
    assert (told.holds, told.word) == (False, "exceeded")
    assert told.sentence.startswith(("<", "A number of"))


@pytest.mark.parametrize("rare", [0, 1, 3, 7, 40])
def test_one_file_is_told_as_its_document_says(rare: int) -> None:
    result = sdc.check(verdicts_people(rare=rare), scenario=verdicts_scenario(k=3, risk=0.4, l=2, global_risk=0.01))
    plain = plain_document(result.assessment)
    told = result.told()
    assert [one.holds for one in told.verdicts] == [one["holds"]["value"] for one in plain["verdicts"]]
    assert [one.name for one in told.verdicts] == [one.name for one in result.verdicts]
    counts = [one["n_records"] for one in plain["verdicts"]]
    for one, count in zip(told.verdicts, counts, strict=True):
        if count is not None and one.holds is False and count["text"] != "withheld":
            assert one.sentence.startswith(count["text"])


def test_a_release_is_named_where_there_are_several() -> None:
    file = verdicts_people(rare=0)
    with pytest.warns(sdc.SdcWarning, match="release 1 has the keys of the original"):
        result = sdc.check(
            file, [verdicts_people(rare=0, seed=5), verdicts_people(rare=30)], scenario=verdicts_scenario(k=3)
        )
    (told,) = [one for one in result.told().verdicts if one.name == "k"]
    assert told.release == 2
    assert told.sentence.startswith("Release 2: ")


def test_intruders_are_named_where_there_are_several() -> None:
    one = sdc.Scenario(intruders={"a": ["sex"], "b": ["sex", "age"]}, thresholds={"k": 3})
    told = sdc.check(verdicts_people(rare=30), scenario=one).told()
    assert told.several_intruders
    assert [said.partition(":")[0] for said in told.sentences] == ["Intruder “a”", "Intruder “b”"]
    alone = sdc.check(verdicts_people(rare=30), scenario=verdicts_scenario(k=3)).told()
    assert [one.sentence for one in alone.verdicts] == list(alone.sentences)


def test_a_limit_that_nobody_judged_is_told_as_such() -> None:
    assessment = sdc.assess(verdicts_people(), scenario=verdicts_scenario(k=3, risk=0.5))
    (intruder,) = assessment.intruders
    lost = dataclasses.replace(assessment, intruders=(dataclasses.replace(intruder, verdicts=intruder.verdicts[:1]),))
    told = told_verdicts(check_assessment(lost)).verdicts
    assert [(one.name, one.holds) for one in told] == [("k", False), ("risk", None)]
    assert "could not be judged" in told[1].sentence


def test_few_records_are_refused() -> None:
    result = sdc.check(verdicts_people(49, rare=0), scenario=verdicts_scenario(k=3))
    with pytest.raises(sdc.DataError, match="fewer than 50"):
        result.told()


# The gate as an assertion: silent where all holds, and otherwise nobody's record in message, traceback or
# locals.


FILES = make_files()
KEYS = ["region", "sex", "band"]


def limits_scenario(**limits: float) -> sdc.Scenario:
    return sdc.Scenario(keys=KEYS, sensitive=["ill"], weight="w", thresholds=limits)


def failure(**limits: float) -> BaseException:
    with pytest.raises((AssertionError, sdc.SdcError)) as caught:
        sdc.assert_within_limits(FILES["survey"], scenario=limits_scenario(**limits))
    return caught.value


def test_within_all_limits_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert sdc.assert_within_limits(FILES["survey"], scenario=limits_scenario(risk=1.0)) is None
    assert capsys.readouterr() == ("", "")


def test_it_says_what_does_not_hold_and_only_that() -> None:
    said = str(failure(k=3, risk=1.0)).splitlines()
    assert said[0] == "not within the declared limits"
    assert [line.split(":")[0].strip() for line in said[1:]] == ["exceeded"]
    told = sdc.check(FILES["survey"], scenario=limits_scenario(k=3)).told()
    assert said[1].endswith(told.verdicts[0].sentence)


def test_a_limit_that_could_not_be_judged_fails() -> None:
    assert "not judged: Household risk (limit 0.1) could not be judged" in str(failure(household_risk=0.1))


def test_of_few_records_nothing_more_is_told() -> None:
    few = FILES["survey"][:40]
    sdc.assert_within_limits(few, scenario=limits_scenario(risk=1.0))
    with pytest.raises(AssertionError, match="fewer than 50 records, so no more is told"):
        sdc.assert_within_limits(few, scenario=limits_scenario(k=40))


def test_files_are_read_as_the_command_line_reads_them(tmp_path: Path) -> None:
    write_marked(FILES, tmp_path)
    paths = [str(tmp_path / "survey.parquet"), tmp_path / "made1.parquet"]
    gate = limits_scenario(match_risk=1.0, risk=1.0).changed(aligned=True)
    sdc.assert_within_limits(paths[0], scenario=limits_scenario(risk=1.0))
    sdc.assert_within_limits(paths[0], [paths[1], FILES["made1"]], scenario=gate, seed=1)
    FILES["survey"].with_columns(job=pl.lit("refused")).write_csv(tmp_path / "coded.csv")
    coded = gate.changed(intruders={"x": ["job"]}, missing_codes=["refused"], thresholds={"risk": 1.0})
    with pytest.raises(sdc.SdcError, match="job"):  # all of them missing
        sdc.assert_within_limits(tmp_path / "coded.csv", scenario=coded)
    with pytest.raises(sdc.FileFormatError, match=r"absent\.csv"):
        sdc.assert_within_limits(tmp_path / "absent.csv", scenario=gate)


def test_no_warning_is_given_but_in_the_message() -> None:
    constant = FILES["survey"].with_columns(sex=pl.lit("f"))
    with pytest.raises(AssertionError, match="\n  warning: key 'sex' has the same value in every record"):
        sdc.assert_within_limits(constant, scenario=limits_scenario(k=3))


@pytest.mark.parametrize(
    "broken", [{}, {"intruders": {"x": ["region", "nowhere"]}}, {"weight": "job"}, {"household": "nowhere"}]
)
def test_an_error_comes_without_the_frames_that_saw_the_records(broken: dict[str, object]) -> None:
    wrong = limits_scenario(k=3).changed(**broken)
    with pytest.raises((sdc.SdcError, AssertionError)) as caught:
        sdc.assert_within_limits(FILES["survey"], scenario=wrong)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    own = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
    assert [frame.f_code.co_name for frame in own] == ["assert_within_limits"]
    assert not {"data", "released", "control", "how"} & set(own[0].f_locals)
    assert not any(one is FILES["survey"] for one in gc.get_referents(*own[0].f_locals.values()))


def test_what_a_library_says_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("ZQX")

    monkeypatch.setattr("sdckit.workflow.check.check", breaks)
    with pytest.raises(sdc.SdcError, match="internal error: RuntimeError") as caught:
        sdc.assert_within_limits(FILES["survey"], scenario=limits_scenario(k=3))
    assert "ZQX" not in "".join(traceback.format_exception(caught.value))


TEST = """
    import polars as pl
    import sdckit as sdc

    def test_the_release():
        scenario = sdc.Scenario.from_toml("scenario.toml")
        sdc.assert_within_limits("survey.parquet", scenario=scenario)

    def test_a_mistake():
        scenario = sdc.Scenario.from_toml("scenario.toml")
        sdc.assert_within_limits(pl.read_parquet("survey.parquet").drop("w"), scenario=scenario)
"""


def test_pytest_prints_no_record(tmp_path: Path) -> None:
    write_marked(FILES, tmp_path)
    (tmp_path / "scenario.toml").write_text(limits_scenario(k=3, risk=0.01).to_toml(), encoding="utf-8")
    (tmp_path / "test_it.py").write_text(textwrap.dedent(TEST), encoding="utf-8")
    # Long tracebacks, and the locals of every frame that is shown; no seed of an order, whose digits may be anything.
    words = ["-p", "no:cacheprovider", "-p", "no:randomly"]
    words += ["--showlocals", "--tb=long", "-vv", "-W", "default", "test_it.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "2 failed" in done.stdout, done.stdout
    assert "AssertionError: not within the declared limits" in done.stdout
    assert "ColumnError" in done.stdout
    assert "tmp = " not in done.stdout
    assert not traces_in(done.stdout + done.stderr)
    assert "shape: (" not in done.stdout  # how Polars prints a frame


def test_a_released_file_is_read_with_its_identifiers_which_would_go_out(tmp_path):
    people = pl.DataFrame({"sex": ["f", "m"] * 60, "name": [f"n{i}" for i in range(120)]})
    people.write_csv(tmp_path / "people.csv")
    people.drop("name").write_csv(tmp_path / "released.csv")
    scenario = sdc.Scenario(
        keys=["sex"], sensitive=[], household="none", magnitudes=[], identifiers=["name"], sampling_fraction=0.1,
        aligned=True, release="teaching", thresholds={"recoverable": "none"},
    )  # fmt: skip
    files = tmp_path / "people.csv", tmp_path / "released.csv"
    sdc.assert_within_limits(files[0], scenario=scenario)
    sdc.assert_within_limits(*files, scenario=scenario, seed=1)
    with pytest.raises(AssertionError, match="A direct identifier goes out: 'name'"):
        sdc.assert_within_limits(files[0], files[0], scenario=scenario, seed=1)


# A release checked without its original: what it gives back by itself is judged, and the verdict says so.


def taken_out(*, told: bool, n: int = 600) -> pl.DataFrame:
    """A file in which values of region were taken out; where `told`, the column office gives them back."""
    rng = np.random.default_rng(3)
    office = rng.integers(0, 30, n)
    region = (office % 5 if told else rng.integers(0, 5, n)).astype(str)
    frame = pl.DataFrame({"region": region, "sex": rng.choice(["f", "m"], n), "office": office})
    gone = pl.Series(rng.random(n) < 0.1)
    return frame.with_columns(region=pl.when(gone).then(None).otherwise("region"))


def alone(**more: object) -> sdc.Scenario:
    roles = {"keys": ["region", "sex"], "sensitive": [], "household": "none", "magnitudes": []}
    roles["insensitive"] = ["office"]
    return sdc.Scenario(**{**roles, "release": "public-use", **more})


def judged(frame: object, given: sdc.Scenario) -> dict[str, sdc.Verdict]:
    return {verdict.name: verdict for verdict in sdc.check(frame, scenario=given).verdicts}


def test_a_column_named_insensitive_is_in_one_of_the_files() -> None:
    frame = taken_out(told=True)
    for given in (frame, frame.lazy(), frame.to_pandas()):
        with pytest.raises(
            ColumnError, match=r"no column 'offices' \(declared as insensitive\); did you mean 'office'"
        ):
            sdc.check(given, scenario=alone(insensitive=["offices"]))
    release = frame.rename({"office": "branch"}).with_columns(sex=pl.col("sex").shuffle(1))
    scenario = sdc.Scenario(keys=["sex"], insensitive=["office", "branch"])
    assert sdc.assess(frame, release, scenario=scenario).column_roles is not None
    with pytest.raises(ColumnError, match="no column 'office'"):
        sdc.assess(release, [release, release], scenario=scenario)


def test_what_a_release_gives_back_by_itself_is_no_pass() -> None:
    result = sdc.check(taken_out(told=True), scenario=alone())
    verdicts = {verdict.name: verdict for verdict in result.verdicts}
    assert not result.passed
    assert verdicts["k"].holds is True
    told = verdicts["recoverable"]
    assert (told.holds, told.value, told.variable, told.alone) == (False, 1.0, "region", True)
    assert "rule: office" in told.sentence
    assert "it tells region" in told.sentence
    assert "the original was not there" in told.sentence
    assert {"k_undone", "risk_undone"} <= verdicts.keys()
    document = plain_document(result.assessment)
    printed = next(verdict for verdict in document["verdicts"] if verdict["name"] == "recoverable")
    assert (printed["holds"]["value"], printed["value"]["value"], printed["alone"]) == (False, 1.0, True)
    assert any("The original was not there" in sentence for sentence in result.told().sentences)
    assert "recoverable" in document["scenario"]["limits"]
    assert "recoverable" not in document["scenario"]["not_asked"]


def test_its_harmless_twin_passes_and_says_that_the_original_was_not_there() -> None:
    result = sdc.check(taken_out(told=False), scenario=alone())
    assert result.passed
    told = next(verdict for verdict in result.verdicts if verdict.name == "recoverable")
    assert (told.holds, told.value, told.alone) == (True, 0.0, True)
    assert "the original was not there" in told.sentence
    assert [verdict.holds for verdict in result.told().verdicts] == [True] * len(result.verdicts)


def test_a_file_without_a_sign_of_protection_is_not_asked_or_not_judged() -> None:
    whole = taken_out(told=True).drop_nulls()
    assert "recoverable" not in judged(whole, alone())
    shown = plain_document(sdc.assess(whole, scenario=alone()))["scenario"]["not_asked"]
    assert "nothing in it was taken out" in shown["recoverable"]
    own = judged(whole, alone(thresholds={"recoverable": 0.0}))["recoverable"]
    assert own.holds is None
    assert "nothing in it was taken out" in own.reason


def test_bands_that_another_column_narrows_count_as_taken_out() -> None:
    rng = np.random.default_rng(5)
    age = rng.integers(0, 60, 600)
    frame = pl.DataFrame({"age": [f"{a // 20 * 20}-{a // 20 * 20 + 19}" for a in age], "born": 2020 - age})
    whole = frame.with_columns(age=pl.when(pl.int_range(600) < 60).then(pl.Series(age.astype(str))).otherwise("age"))
    told = judged(whole, alone(keys=["age"], insensitive=["born"]))["recoverable"]
    assert (told.holds, told.variable) == (False, "age")
    assert judged(whole.drop("born"), alone(keys=["age"], insensitive=[]))["recoverable"].holds is True


@pytest.mark.parametrize("told", [True, False])
def test_a_plan_is_judged_like_the_file(told: bool) -> None:
    frame = taken_out(told=told)
    assert judged(frame.lazy(), alone())["recoverable"] == judged(frame, alone())["recoverable"]
    assert "recoverable" not in judged(frame.drop_nulls().lazy(), alone())
    sensitive = alone(keys=["sex"], sensitive=["region"])
    assert judged(frame.lazy(), sensitive)["recoverable"].holds is not told


def test_a_plan_too_large_for_memory_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sdckit.cells.plans.lazy.COLLECT_LIMIT", 100)
    verdict = judged(taken_out(told=False).lazy(), alone())["recoverable"]
    assert verdict.holds is None
    assert "too many values" in verdict.reason


def test_of_a_panel_no_single_values_are_to_be_taken_out() -> None:
    from sdckit.report.chapters.decision import TAKE_OUT, next_steps

    frame = taken_out(told=False).drop_nulls().with_columns(person=pl.int_range(pl.len()) // 3)
    limits = sdc.Scenario(keys=["region", "office"], thresholds={"k": 9})
    steps = {person: next_steps(plain_document(sdc.assess(frame, scenario=limits.changed(person=person))))
             for person in (None, "person")}  # fmt: skip
    assert TAKE_OUT in steps[None]
    assert TAKE_OUT not in steps["person"]
    assert not any(line.startswith(("Then", "Or")) for line in (steps[None][0], steps["person"][0]))


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")  # the release is the file
@pytest.mark.parametrize("compared", [False, True])
def test_households_alone_are_counted_where_no_limit_asks_and_said_not_to_be_on_an_engine(*, compared: bool) -> None:
    """Of 41 households of three one has other members; everybody is in a group of 20 or more."""
    homes = pl.DataFrame({"home": np.arange(123) // 3, "sex": [*["f", "m", "f"] * 40, "m", "m", "m"]})

    homes = homes.with_columns(age=pl.lit("adult"))

    def told(
        file: pl.DataFrame | pl.LazyFrame,
        *,
        protected: bool = False,
        knows: dict[str, list[str]] | None = None,
        **limits: float,
    ) -> list[str]:
        roles = sdc.Scenario(intruders=knows or {"a": ["sex"]}, household="home", thresholds={"k": 20, **limits})
        result = sdc.check(file, file if compared else None, scenario=roles)
        assert result.passed
        return result.households_alone(protected=protected)

    words, no_limit = "Households alone with their size and what is known of their members: ", "no limit is on them"
    assert told(homes) == [f"{words}1 of 41; {no_limit} (household_uniques)."]
    (line,) = told(homes, protected=True)
    assert line.startswith(words)
    assert " 1 " not in line
    assert told(homes, household_uniques=0.5) == []
    same, other = {"a": ["sex"], "b": ["sex", "age"]}, {"a": ["sex"], "b": ["age"]}
    assert told(homes, knows=same) == told(homes)
    for protected in (False, True):
        both = told(homes, knows=other, protected=protected)
        assert [line[: line.index(words)] for line in both] == ["Intruder “a”: ", "Intruder “b”: "]
    assert told(homes, knows=other)[1] == f"Intruder “b”: {words}0 of 41; {no_limit} (household_uniques)."
    assert told(homes.lazy())[0].startswith(f"{words}not counted here")
