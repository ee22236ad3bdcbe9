"""The options on the type of release: the same for every command that judges a file or takes a scenario."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from sdckit.cli.release_type import ReleaseType
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import ScenarioError


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Four of a kind, twenty times, and no more than three of one kind."""
    path = tmp_path / "people.csv"
    kinds = [age for age in range(20) for _ in range(4)] + [50] * 3
    pl.DataFrame({"sex": ["f"] * len(kinds), "age": kinds}).write_csv(path)
    return path


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text('keys = ["sex", "age"]\nsampling_fraction = 0.001\n', encoding="utf-8")
    return path


@pytest.fixture
def office(tmp_path: Path) -> Path:
    path = tmp_path / "office.toml"
    path.write_text(
        "[release_types.public-use]\nk = 3\n\n[release_types.partners]\nk = 4\n", encoding="utf-8"
    )
    return path


def test_options_replace_entries() -> None:
    scenario = Scenario(keys=["sex"], release="enclave")
    assert ReleaseType().of(scenario) is scenario
    found = ReleaseType(release_type="public-use").of(scenario)
    assert found is not None
    assert found.release == "public-use"
    assert ReleaseType().of(None) is None
    with pytest.raises(ScenarioError, match="need a scenario"):
        ReleaseType(release_type="public-use").of(None)


def test_check_judges_by_the_type(sdckit, people: Path, scenario: Path, office: Path) -> None:
    given = ("check", people, "--scenario", scenario)
    assert sdckit(*given).code == 2
    contract = sdckit(*given, "--release-type", "scientific-use")
    assert contract.code == 0
    assert contract.out.startswith(
        "Type of release: scientific-use file. Its limits: k 3, individual risk 0.2."
    )
    assert "limit of a scientific-use file" in " ".join(contract.out.split())
    assert sdckit(*given, "--release-type", "public-use").code == 1
    assert sdckit(*given, "--release-type", "public-use", "--release-types", office).code == 0
    own = sdckit(*given, "--release-type", "partners", "--release-types", office)
    assert own.code == 1
    assert "3 records are in groups of fewer than 4" in own.out


def test_what_no_type_is_called_is_told(sdckit, people: Path, scenario: Path) -> None:
    done = sdckit("check", people, "--scenario", scenario, "--release-type", "partners")
    assert (done.code, done.out) == (2, "")
    assert "--release-type must be one of 'public-use'" in done.err
    done = sdckit("check", people, "--scenario", scenario, "--release-types", scenario)
    assert done.code == 2
    assert "s.toml: there is no entry 'keys' in a file of release types" in done.err


def test_assess_writes_the_type_into_its_documents(
    sdckit, people: Path, office: Path, tmp_path: Path
) -> None:
    out = tmp_path / "a.json"
    given = ("assess", people, "--keys", "sex,age", "--release-type", "public-use", "--release-types", office)
    assert sdckit(*given, "--json", out, "--quiet").code == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    assert found["scenario"]["limits"]["k"] == {"value": 3, "origin": "office", "of_type": 3}
    assert found["verdicts"][0]["origin"] == "the office’s limit of a public-use file"
    assert "[release_types.public-use]" in found["reproduce"]["scenario"]
    assert "Thresholds: k 3, risk 0.05\nType of release: public-use file." in sdckit(*given, "--dry-run").out


def test_the_command_of_a_report_names_the_type(sdckit, people: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    given = ("assess", people, "--keys", "sex,age", "--release-type", "teaching", "--quiet", "--json", out)
    assert sdckit(*given).code == 0
    command = json.loads(out.read_text(encoding="utf-8"))["reproduce"]["command"]
    assert command == "sdckit assess FILE --keys sex,age --release-type teaching"


def test_a_recipe_takes_k_from_the_type(sdckit, people: Path, scenario: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text('[[steps]]\nmethod = "local_suppression"\n', encoding="utf-8")
    given = (recipe, people, "--scenario", scenario)
    assert sdckit("protect", *given, "--out", tmp_path / "no.csv").code == 2
    done = sdckit(
        "protect", *given, "--release-type", "scientific-use", "--out", tmp_path / "out.csv", "--quiet"
    )
    assert (done.code, done.err) == (0, "")
    assert pl.read_csv(tmp_path / "out.csv").null_count().row(0) == (0, 0)
    done = sdckit("protect", *given, "--release-type", "public-use", "--out", tmp_path / "pub.csv", "--quiet")
    assert done.code == 0
    assert sum(pl.read_csv(tmp_path / "pub.csv").null_count().row(0)) > 0
    given = ("explore", *given, "--grid", "1.k=2,3", "--release-type", "teaching", "--quiet")
    assert sdckit(*given, "--out", tmp_path / "map.csv").code == 0
    done = sdckit("explore", recipe, people, "--grid", "1.k=2,3", "--release-type", "teaching")
    assert (done.code, "need a scenario" in done.err) == (2, True)
