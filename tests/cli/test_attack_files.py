"""The files of an attack: shared columns only, identifiers never, no file twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from sdckit.cli.attack_files import Attacked, check_attack_options, read_attacked
from sdckit.cli.attack_options import read_wanted
from sdckit.cli.source import Source
from sdckit.errors import ColumnError, DataError, ScenarioError, SdcError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people = pl.DataFrame(
        {"name": ["x", "y", "z"], "age": [20, 30, 40], "sex": ["f", "m", "f"], "code": [1, 9, 2]}
    )
    people.write_csv(tmp_path / "original.csv")
    people.drop("code", "name").write_csv(tmp_path / "release.csv")
    people.write_csv(tmp_path / "control.csv")
    people.select("age").write_csv(tmp_path / "narrow.csv")
    (tmp_path / "headless.csv").write_text("ann,rome\nbob,oslo\ncid,bonn\n")
    return tmp_path


def read(folder: Path, released: str = "release.csv", control: str | None = None, **given: Any) -> Attacked:
    wanted = read_wanted(**{"kinds": ["distances"], "known": [], "targets": [], **given.pop("wanted", {})})
    source = Source(
        file=folder / given.pop("file", "original.csv"), no_progress=True, missing=given.pop("missing", None)
    )
    options = {"variables": (), "identifiers": (), "scenario": None, **given}
    last = None if control is None else folder / control
    return read_attacked(source, [folder / released], last, wanted=wanted, steps=source.steps(), **options)


def test_what_the_files_share_is_read_and_nothing_else(folder: Path) -> None:
    found = read(folder, control="control.csv", identifiers=["name"])
    assert found.variables == ("age", "sex")
    assert found.left_out == ("code",)
    assert [file.columns for file in (found.original, *found.released, found.control)] == [["age", "sex"]] * 3
    assert found.declared is None
    assert read(folder).left_out == ("name", "code")


def test_named_columns_and_those_of_the_attacks(folder: Path) -> None:
    wanted = {"kinds": ["inference"], "known": [["sex"]], "targets": ["age"]}
    found = read(folder, variables=["age"], wanted=wanted)
    assert found.variables == ("age",)
    assert found.original.columns == ["age", "sex"]
    assert found.control is None


def test_a_scenario_gives_variables_numbers_codes_and_identifiers(folder: Path) -> None:
    stored = sdc.Scenario(
        keys=["sex"], sensitive=["code"], numeric=["age"], identifiers=["name"], missing_codes=["40"]
    )
    found = read(folder, scenario=stored)
    assert found.variables == ("sex", "age")
    assert found.left_out == ("code",)
    assert found.declared == ("age",)
    assert found.original["age"].null_count() == 1
    assert read(folder, scenario=stored, missing=["20", "30"]).original["age"].null_count() == 2
    with pytest.raises(ColumnError, match=r"narrow\.csv has no column 'sex'"):
        read(folder, "narrow.csv", scenario=stored)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"released": "original.csv"}, ScenarioError, "is the original itself"),
        ({"control": "original.csv"}, ScenarioError, "is the original itself"),
        ({"control": "release.csv"}, ScenarioError, "is the release"),
        ({"variables": ["name"], "identifiers": ["name"]}, ColumnError, "never read"),
        ({"variables": ["code"]}, ColumnError, r"release\.csv has no column 'code'"),
        ({"control": "narrow.csv", "variables": ["sex"]}, ColumnError, r"narrow\.csv has no column 'sex'"),
        ({"released": "narrow.csv", "identifiers": ["age"]}, ColumnError, "no column in common"),
        ({"file": "headless.csv"}, DataError, "may be a record"),
    ],
)
@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_what_is_refused(folder: Path, given: dict[str, Any], error: type[SdcError], words: str) -> None:
    with pytest.raises(error, match=words):
        read(folder, **given)


def test_the_id_is_read_of_original_and_release_though_an_identifier(folder: Path) -> None:
    wanted = {"kinds": ["probabilistic-linkage"], "known": [["age", "sex"]], "id": "name"}
    (folder / "moved.csv").write_text("name,age,sex\nz,40,f\nx,20,f\ny,31,m\n")
    (folder / "others.csv").write_text("age,sex\n40,f\n20,f\n")
    found = read(folder, "moved.csv", "others.csv", identifiers=["name"], wanted=wanted)
    assert found.variables == ("age", "sex")
    assert [file.columns for file in (found.original, *found.released)] == [["age", "sex", "name"]] * 2
    assert found.control is not None
    assert found.control.columns == ["age", "sex"]
    assert found.id == "name"
    assert read(folder, "moved.csv", wanted=wanted).variables == ("age", "sex")
    with pytest.raises(ColumnError, match="'name' says which rows belong together"):
        read(folder, "moved.csv", variables=["name"], wanted=wanted)
    with pytest.raises(ColumnError, match=r"release\.csv has no column 'name'"):
        read(folder, wanted=wanted)


@pytest.mark.parametrize(
    ("released", "control", "attacks", "n_attacks", "words"),
    [
        ((), None, True, None, "need a release"),
        ((), "control.csv", False, None, "need a release"),
        (("release.csv",), None, False, 5, "--n-attacks is of the simulated attacks"),
        (("release.csv",), None, True, 0, "1 or more"),
        (("release.csv",), "original.csv", False, None, r"is original\.csv itself"),
        (("release.csv",), "release.csv", False, None, r"is release\.csv itself"),
    ],
)
def test_options_of_attacks_that_make_no_sense(
    folder: Path,
    released: tuple[str, ...],
    control: str | None,
    attacks: bool,
    n_attacks: int | None,
    words: str,
) -> None:
    last = None if control is None else folder / control
    files = [folder / one for one in released]
    with pytest.raises(ScenarioError, match=words):
        check_attack_options(folder / "original.csv", files, last, attacks=attacks, n_attacks=n_attacks)


def test_options_of_attacks_that_do(folder: Path) -> None:
    original, released = folder / "original.csv", [folder / "release.csv"]
    check_attack_options(original, released, None, attacks=True, n_attacks=1)
    check_attack_options(original, released, folder / "control.csv", attacks=False, n_attacks=None)
    check_attack_options(original, [], None, attacks=False, n_attacks=None)
