"""The plan says what would run and what it would cost, from the header alone."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import polars as pl
import pytest

import releases
import sdckit as sdc
from sdckit.catalogue import further
from sdckit.cli import plan as module
from sdckit.cli.plan import plan_lines
from sdckit.data.files.file_checks import FileHeader
from sdckit.data.files.readers import scan_header
from sdckit.data.scenarios.scenario import Scenario

NO_FILE = (Path("x.parquet"), FileHeader(("a",), 20, "Parquet"))


def told(*given: object, **options: object) -> tuple[set[str], dict[str, str]]:
    """What would run, and what would not with its reason."""
    lines = plan_lines(*given, **options)  # type: ignore[arg-type]
    text = "\n".join(lines)
    will = re.findall(r"^  would run  (\S+): .+[?]$", text, re.MULTILINE)
    assert len(will) == len(set(will))
    return set(will), dict(re.findall(r"^  would not  (\S+(?: \(\w+\))?): (.+)$", text, re.MULTILINE))


ALWAYS = {"key_frequencies", "k_anonymity", "individual_risk", "key_contributions"}
ROLES = {"household": "h", "sensitive": ["s"]}


def test_keys_alone_permit_the_measures_that_need_nothing_else() -> None:
    will, will_not = told(NO_FILE, Scenario(keys=["a", "b"]))
    assert will == ALWAYS
    assert will_not == {
        "household_structure": "the scenario names no household column",
        "l_diversity": "the scenario names no sensitive variable",
    }


def test_one_key_has_no_other_to_be_held_against() -> None:
    will, will_not = told(NO_FILE, Scenario(keys=["a"], **ROLES))
    assert will == {*ALWAYS, "household_structure", "l_diversity"} - {"key_contributions"}
    assert will_not == {"key_contributions": "there is only one key"}


def test_all_roles_permit_everything_that_always_runs() -> None:
    will, will_not = told(NO_FILE, Scenario(keys=["a", "b"], **ROLES))
    assert will == {*ALWAYS, "household_structure", "l_diversity"}
    assert not will_not


def test_further_measures_are_shown_when_they_are_asked_for() -> None:
    always = {*ALWAYS, "household_structure", "l_diversity"}
    will, will_not = told(NO_FILE, Scenario(keys=["a", "b"], **ROLES), further())
    assert will_not.keys() == {"population_risk", "population_uniques", "outliers"}
    assert will == {*always, *further()} - will_not.keys()
    assert will_not["outliers"] == "the scenario names no numeric variable"
    assert all("weight" in will_not[name] for name in ("population_risk", "population_uniques"))
    full = Scenario(keys=["a", "b"], **ROLES, numeric=["x"], sampling_fraction=0.1)
    will, will_not = told(NO_FILE, full, further())
    assert will == {*always, *further()}
    assert not will_not


def test_the_plan_names_columns_intruders_and_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": [1, 2], "b": [1, 2], "name": ["x", "y"]}).write_parquet(path)
    scenario = Scenario(intruders={"one": ["a"], "two": ["a", "b"]}, identifiers=["name"], thresholds={"k": 3})
    text = "\n".join(plan_lines((path, scan_header(path)), scenario))
    for part in ("2 of 3 columns", "a, b", "Would not read: name", "'two' knows a, b", "k 3", "2 records"):
        assert part in text
    text = "\n".join(plan_lines((path, scan_header(path)), scenario, id="name"))
    assert "3 of 3 columns" in text  # an id is read, whatever else it is
    assert "Would not read" not in text


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
    headers = [
        (Path(f"{i}.csv"), FileHeader(tuple(one.columns), one.height, "CSV")) for i, one in enumerate([*files, people])
    ]
    will, will_not = told(
        headers[0], scenario, released=[headers[1]], control=headers[2] if control else None, attacks=True,
        n_attacks=20, aligned=aligned, models=models,
    )  # fmt: skip
    alone = found.original["default"]
    ran = done([*alone.results, *intruder.results, *found.utility.results, *found.attacks])
    assert will == ran
    parts = (alone.skipped, intruder.skipped, found.utility.skipped, found.attacks_skipped)
    skipped = done([place for part in parts for place, _ in part])
    assert done([name.partition(" ")[0] for name in will_not]) - will == skipped - ran


def test_the_plan_of_a_release_shows_both_files_and_the_attacks(tmp_path: Path) -> None:
    files = {}
    for name, columns in (("x", ["a", "b", "s"]), ("y", ["a", "b"]), ("z", ["a", "b", "s", "t"])):
        path = tmp_path / f"{name}.parquet"
        pl.DataFrame(dict.fromkeys(columns, range(200))).write_parquet(path)
        files[name] = (path, scan_header(path))
    scenario = Scenario(keys=["a", "b"], sensitive=["s"])

    def shown(**options) -> str:
        return "\n".join(plan_lines(files["x"], scenario, **options))

    alone = shown()
    assert "matching_risk" not in alone
    assert "attacks" not in alone
    text = shown(released=[files["y"]], control=files["z"], n_attacks=1_000)
    for part in (
        "Would read 3 of 3 columns of x.parquet",
        "Would read 2 of 2 columns of y.parquet (Parquet), a release",
        "Would read 3 of 4 columns of z.parquet (Parquet), people never in the file",
        "In each file:\n  would run  key_frequencies",
        "would run  identity_disclosure",
        "would not  matching_risk: row i of the release is not declared",
        "would not  prediction_risk: a release does not have the variable s",
        "would not  ecdf_utility: no variable is declared numeric",
        "would not  compare_models: no model was named",
        "Simulated attacks, 1,000 attempts each, with 2 of 2 columns that go out:\n  would run  singling_out",
        "would run  membership: Can it be told who was in the file?",
        "would not  inference: a release does not have the variable s",
        "600 records: memory about 400 MB, time about 2 s; comparing the files takes more time",
    ):
        assert part in text
    text = shown(released=[files["z"]], attacks=True, aligned=True, models={"a ~ b": "linear"})
    for part in (
        "would run  matching_risk",
        "would run  compare_models",
        "would not  membership: there is no control file",
    ):
        assert part in text
    assert "Simulated attacks, 500 attempts" in text
    assert "Simulated attacks: none; --control FILE or --attacks" in shown(released=[files["y"]])


@pytest.mark.parametrize(
    ("rows", "tables", "propensity"),
    [
        (1_000, "[records of 2 columns of each file, 1 MB, 1 pass for all parts", "[records of 2 columns"),
        (200_000_000, "[tables of 2 columns of each file: at most ", "[refused: 400,000,000 values of each file"),
    ],
)
def test_parts_of_the_overview_say_what_comes(tmp_path: Path, rows: int, tables: str, propensity: str) -> None:
    file = (tmp_path / "x.parquet", FileHeader(("a", "b"), rows, "Parquet"))
    given = {"released": [file], "engine": "duckdb", "memory": "4GB"}
    lines = "\n".join(plan_lines(file, Scenario(keys=["a", "b"], numeric=["b"]), **given))
    assert "Within --memory 4GB: 1,800 MB for the engine; here up to 9,375,000 cells of 2 keys of one file, " in lines
    for name, says in (("tabular_utility", tables), ("compare_associations", tables), ("propensity", propensity)):
        assert f"would run  {name}: " in lines
        assert says in next(line for line in lines.splitlines() if f"  {name}:" in line)
    lines = plan_lines(file, Scenario(keys=["a", "b"]), **given)  # of categories alone tables do
    assert tables in next(line for line in lines if "  propensity:" in line)


@pytest.mark.parametrize(
    ("rows", "drawn"), [(1_000, ("500 people", "")), (9_000_000, ("500 people", "100,000 records"))]
)
def test_a_plan_says_whom_a_measure_draws(tmp_path: Path, rows: int, drawn: tuple[str, str]) -> None:
    file = (tmp_path / "x.parquet", FileHeader(("a", "b", "id"), rows, "Parquet"))
    given = {"released": [file], "engine": "polars", "id": "id", "aligned": True, "targets": 500}
    lines = plan_lines(file, Scenario(keys=["a", "b"]), **given)
    for name, words in zip(("record_linkage", "recoverable_values"), drawn, strict=True):
        line = next(line for line in lines if f"would run  {name}:" in line)
        assert f"{words} drawn by their id" in line if words else line.endswith("refused]")
        assert ("the original passes by in blocks, 500" in line) is (name == "record_linkage")


def test_figures_of_each_measure_go_by_the_memory_that_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 4 GB 1.8 are left to this side: half of it for cells of one file, a third for those of each of two."""
    monkeypatch.setattr("sdckit.cells.plans.count_cells.free_bytes", lambda: 64_000_000_000)
    file = (tmp_path / "x.parquet", FileHeader(("a", "b"), 100_000_000, "Parquet"))
    scenario = Scenario(keys=["a", "b"], household="h")
    bounded, free = (
        plan_lines(file, scenario, released=[file], aligned=True, id="b", engine="duckdb", memory=memory)
        for memory in ("4GB", None)
    )
    for name, words in {
        "k_anonymity": "at most 9,375,000 cells",
        "identity_disclosure": "at most 6,281,250 cells of each file",
        "household_structure": "above 81,818,181 values refused",
        "tabular_utility": "at most 6,281,250 cells at once",
    }.items():
        line, without = (next(of for of in lines if f"would run  {name}:" in of) for lines in (bounded, free))
        assert words in line, line
        assert words not in without


@pytest.mark.parametrize("rows", [1_000, 10_000_000])
def test_the_cost_grows_with_the_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(module, "free_bytes", lambda: None)
    path = tmp_path / "x.parquet"
    path.write_bytes(b"")
    last = plan_lines((path, FileHeader(("a",), rows, "Parquet")), Scenario(keys=["a"]))[-1]
    assert last.startswith(f"{rows:,} records: memory about ")
    assert "MB, time about" in last


@pytest.mark.parametrize(
    ("free", "given", "says"),
    [
        (2_000_000_000, {}, "Warning: this may take 2,820 MB, and the machine has 2,000 MB free now: the system"),
        (2_000_000_000, {}, "leave the records with an engine (--engine duckdb --memory 1000MB), or free some memory"),
        (9_000_000_000, {}, ""),
        (None, {}, ""),
        (2_000_000_000, {"engine": "duckdb", "memory": "4GB"}, "Warning: --memory 4GB may take 4,000 MB, and the "),
        (9_000_000_000, {"engine": "duckdb", "memory": "4GB"}, "The machine has 9,000 MB free now"),
        (None, {"engine": "duckdb", "memory": "4GB"}, ""),
        (2_000_000_000, {"engine": "spark"}, "The machine has 2,000 MB free now; of it cells may take a quarter here"),
    ],
)
def test_a_plan_compares_what_it_needs_with_what_is_free(tmp_path: Path, monkeypatch, free, given, says) -> None:
    monkeypatch.setattr(module, "free_bytes", lambda: free)
    file = (tmp_path / "x.parquet", FileHeader(("a",), 17_040_000, "Parquet"))
    last = plan_lines(file, Scenario(keys=["a"]), **given)[-1]
    assert says in last
    if not says:
        assert "free now" not in last


def test_an_unknown_number_of_records_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.sav"
    path.write_bytes(b"0" * 1000)
    last = plan_lines((path, FileHeader(("a",), None, "SPSS")), Scenario(keys=["a"]))[-1]
    assert last.startswith("The number of records is not known before reading; memory about 400 MB")


def test_the_plan_is_printed_of_all_files(sdckit, survey: Path, tmp_path: Path) -> None:
    released, control = tmp_path / "released.csv", tmp_path / "control.csv"
    for path in (released, control):
        path.write_bytes(survey.read_bytes())
    given = ("assess", survey, "--keys", "sex,age", "--dry-run", "--released", released)
    done = sdckit(*given, "--control", control, "--n-attacks", "70")
    assert done.code == 0
    assert "released.csv (CSV), a release" in done.out
    assert "Simulated attacks, 70 attempts each, with 2 and with 7 of 7 columns that go out:" in done.out
    control.write_text("age\n1\n2\n")
    done = sdckit(*given, "--control", control)
    assert (done.code, "control.csv has no column 'sex'" in " ".join(done.lines)) == (2, True)
