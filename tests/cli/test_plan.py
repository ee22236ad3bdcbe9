"""The plan says what would run and what it would cost, from the header alone."""

from __future__ import annotations

import warnings
from pathlib import Path

import polars as pl
import pytest
from sdckit.workflow.extra_measures import CLOSENESS, EXTRA

import releases
import sdckit as sdc
from sdckit.catalogue import CATALOGUE
from sdckit.cli.plan import ALWAYS, applicable, attacks_planned, comparisons_planned, plan_lines
from sdckit.data.files.readers import FileHeader, scan_header
from sdckit.data.scenarios.scenario import Scenario


def test_keys_alone_permit_the_measures_that_need_nothing_else() -> None:
    will, will_not = applicable(Scenario(keys=["a"]))
    assert {row.name for row in will} >= {"key_frequencies", "k_anonymity", "individual_risk"}
    assert {row.name: reason for row, reason in will_not} == {
        "household_structure": "needs household",
        "l_diversity": "needs sensitive",
    }


def test_all_roles_permit_everything_that_always_runs() -> None:
    will, will_not = applicable(Scenario(keys=["a"], household="h", sensitive=["s"]))
    assert tuple(row.name for row in will) == tuple(row.name for row in CATALOGUE if row.name in ALWAYS)
    assert not will_not


def test_what_always_runs_and_what_can_be_asked_for_are_measures() -> None:
    names = {row.name: row for row in CATALOGUE}
    assert set(ALWAYS) | set(EXTRA) <= names.keys()
    assert not set(ALWAYS) & set(EXTRA)
    assert all(names[name].n_files == 1 for name in (*ALWAYS, *EXTRA))


def test_further_measures_are_shown_when_they_are_asked_for() -> None:
    will, will_not = applicable(Scenario(keys=["a"], household="h", sensitive=["s"]), EXTRA)
    assert {row.name for row in will} - set(ALWAYS) == {"suda", "risky_cells", *CLOSENESS}
    design = "needs weight or sampling_fraction"
    assert {row.name: reason for row, reason in will_not} == {
        "population_risk": design,
        "population_uniques": design,
        "outliers": "needs numeric",
    }
    full = Scenario(keys=["a"], household="h", sensitive=["s"], numeric=["x"], sampling_fraction=0.1)
    will, will_not = applicable(full, EXTRA)
    assert {row.name for row in will} == {*ALWAYS, *EXTRA}
    assert not will_not


def test_the_plan_names_columns_intruders_and_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": [1, 2], "b": [1, 2], "name": ["x", "y"]}).write_parquet(path)
    scenario = Scenario(
        intruders={"one": ["a"], "two": ["a", "b"]}, identifiers=["name"], thresholds={"k": 3}
    )
    text = "\n".join(plan_lines(path, scan_header(path), scenario))
    for part in ("2 of 3 columns", "a, b", "Would not read: name", "'two' knows a, b", "k 3", "2 records"):
        assert part in text


def done(places: list[str]) -> set[str]:
    return {place.partition(":")[0] for place in places}


@pytest.mark.parametrize(
    ("options", "aligned", "control"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"sensitive": []}, True, False),
        ({"keys": ["age"], "numeric": []}, True, True),
        ({"lost": "ill"}, False, False),
    ],
)
def test_what_is_planned_for_a_release_is_what_runs(options, aligned: bool, control: bool) -> None:
    lost = options.get("lost")
    given = {name: value for name, value in options.items() if name != "lost"}
    scenario = releases.scenario(**{"sensitive": ["ill"], **given}, aligned=aligned)
    files = releases.original(), releases.release()
    if lost:
        files = files[0], files[1].drop(lost)
    people = releases.original(120, seed=5)
    models = {} if lost or control else {"income ~ age": "linear"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sdc.assess(
            files[0], files[1], scenario=scenario, control=people if control else None,
            attacks=True, n_attacks=20, models=models, seed=1,
        )  # fmt: skip
    intruder = found["default"]
    ran = done([*intruder.measures, *found.utility.results])
    planned = comparisons_planned(scenario, files[1].columns, aligned=aligned, models=bool(models))
    assert {name for name, reason in planned.items() if not reason} == ran
    assert planned.keys() - ran == done([name for name, _ in (*intruder.skipped, *found.utility.skipped)])
    attacks = attacks_planned(scenario, files[1].columns, aligned=aligned, control=control)
    made = done(list(found.attacks))
    assert {name for name, reason in attacks.items() if not reason} == made
    assert done([name for name, _ in found.attacks_skipped]) <= attacks.keys() - made


def test_the_plan_of_a_release_shows_both_files_and_the_attacks(tmp_path: Path) -> None:
    files = {}
    for name, columns in (("x", ["a", "b", "s"]), ("y", ["a", "b"]), ("z", ["a", "b", "s", "t"])):
        path = tmp_path / f"{name}.parquet"
        pl.DataFrame(dict.fromkeys(columns, range(200))).write_parquet(path)
        files[name] = (path, scan_header(path))
    scenario = Scenario(keys=["a", "b"], sensitive=["s"])

    def told(**options) -> str:
        return "\n".join(plan_lines(*files["x"], scenario, **options))

    alone = told()
    assert "matching_risk" not in alone
    assert "attacks" not in alone
    text = told(released=[files["y"]], control=files["z"], n_attacks=1_000)
    for part in (
        "Would read 3 of 3 columns of x.parquet",
        "Would read 2 of 2 columns of y.parquet (Parquet), a release",
        "Would read 3 of 4 columns of z.parquet (Parquet), people never in the file",
        "In each file:\n  would run  key_frequencies",
        "would run  identity_disclosure",
        "would not  matching_risk: row i of the release is not declared",
        "would not  prediction_risk: a release does not have the sensitive variables",
        "would not  ecdf_utility: no variable is declared numeric",
        "would not  compare_models: no model was named; give --model FORMULA",
        "Simulated attacks, 1,000 attempts each:\n  would run  singling_out",
        "would run  membership: Can it be told who was in the file?",
        "would not  inference: a release does not have the sensitive variables",
        "600 records: memory about 400 MB, time about 2 s; comparing the files takes more time",
    ):
        assert part in text
    text = told(released=[files["z"]], attacks=True, aligned=True, models=True)
    for part in (
        "would run  matching_risk",
        "would run  compare_models",
        "would not  membership: needs --control FILE",
    ):
        assert part in text
    assert "Simulated attacks, 500 attempts" in text
    assert "Simulated attacks: none; --control FILE or --attacks" in told(released=[files["y"]])


@pytest.mark.parametrize("rows", [1_000, 10_000_000])
def test_the_cost_grows_with_the_records(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "x.parquet"
    path.write_bytes(b"")
    told = plan_lines(path, FileHeader(("a",), rows, "Parquet"), Scenario(keys=["a"]))[-1]
    assert told.startswith(f"{rows:,} records: memory about ")
    assert "MB, time about" in told


def test_an_unknown_number_of_records_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    path.write_bytes(b"0" * 1000)
    told = plan_lines(path, FileHeader(("a",), None, "SPSS"), Scenario(keys=["a"]))[-1]
    assert told.startswith("The number of records is not known before reading; memory about 400 MB")


def test_the_plan_is_printed_of_all_files(sdckit, survey: Path, tmp_path: Path) -> None:
    released, control = tmp_path / "released.csv", tmp_path / "control.csv"
    for path in (released, control):
        path.write_bytes(survey.read_bytes())
    given = ("assess", survey, "--keys", "sex,age", "--dry-run", "--released", released)
    done = sdckit(*given, "--control", control, "--n-attacks", "70")
    assert done.code == 0
    assert "released.csv (CSV), a release" in done.out
    assert "Simulated attacks, 70 attempts each:" in done.out
    control.write_text("age\n1\n2\n")
    done = sdckit(*given, "--control", control)
    assert (done.code, "control.csv has no column 'sex'" in " ".join(done.lines)) == (2, True)
