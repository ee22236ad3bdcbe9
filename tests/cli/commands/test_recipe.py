"""``sdckit recipe init``: what it writes runs through ``protect`` and ``check`` as it stands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sdckit as sdc
from cli.conftest import MARKER

Runner = Callable[..., Any]
SCENARIO = """
weight = "w"
identifiers = ["name"]

[intruders.neighbour]
keys = ["sex", "age", "region"]

[intruders.colleague]
keys = ["sex", "income"]

[thresholds]
k = 3
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.mark.filterwarnings("ignore")
def test_what_it_writes_protects_and_passes(sdckit: Runner, survey: Path, scenario: Path, tmp_path: Path) -> None:
    recipe, safe, log = tmp_path / "r.toml", tmp_path / "safe.csv", tmp_path / "log.json"
    done = sdckit("recipe", "init", survey, "--scenario", scenario, "--out", recipe)
    assert (done.code, done.err) == (0, "")
    assert f"sdckit protect {recipe} {survey} --scenario {scenario} --out safe.csv --log log.json" in done.out
    assert MARKER not in done.out + recipe.read_text(encoding="utf-8")
    done = sdckit("protect", recipe, survey, "--scenario", scenario, "--out", safe, "--log", log, "-q")
    assert done.code == 0
    assert "name" not in sdc.read_file(safe).columns
    done = sdckit("check", survey, "--scenario", scenario, "--released", safe, "--log", log, "--seed", 1)
    assert done.code == 0, done.out


def test_the_columns_of_a_second_file_are_known(
    sdckit: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names that the second file has do not go out, and roles of its other columns are taken."""
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("id,ward\n" + "".join(f"{n // 2},{'abc'[n % 3]}\n" for n in range(120)))
    Path("people.csv").write_text("id,name,sex,note\n" + "".join(f"{n},Zq{n},{'fm'[n % 2]},x\n" for n in range(60)))
    entries = 'keys = ["ward", "sex"]\nidentifiers = ["name"]\ninsensitive = ["id", "note"]\n[thresholds]\nk = 3\n'
    Path("s.toml").write_text(entries, encoding="utf-8")
    for command in (("recipe", "init"), ("propose",)):
        second = ("--join", "people.csv", "--join-key", "id")
        out = sdckit(*command, "visits.csv", "--scenario", "s.toml", *second, "--out", f"{command[0]}.toml")
        assert out.code == 0, out.err
        assert 'columns = ["name"]' in Path(f"{command[0]}.toml").read_text(encoding="utf-8")
    assert "Zq" not in out.out


def test_it_is_printed_unless_a_file_is_named(sdckit: Runner, survey: Path, scenario: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    call = ("recipe", "init", survey, "--scenario", scenario)
    printed = sdckit(*call)
    assert sdckit(*call, "--out", "-").out == printed.out
    assert sdckit(*call, "--out", recipe, "-q").out == ""
    assert recipe.read_text(encoding="utf-8") == printed.out.replace("recipe.toml", str(recipe))


def test_a_file_that_exists_stays_unless_forced(sdckit: Runner, survey: Path, scenario: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text("mine", encoding="utf-8")
    call = ("recipe", "init", survey, "--scenario", scenario, "--out", recipe)
    done = sdckit(*call)
    assert (done.code, done.err) == (2, "error: r.toml exists already; --force replaces it, or name another\n")
    assert recipe.read_text(encoding="utf-8") == "mine"
    assert sdckit(*call, "--force").code == 0
    assert "[[steps]]" in recipe.read_text(encoding="utf-8")


def test_what_names_rare_values_is_for_its_owner_alone(
    sdckit: Runner, survey: Path, scenario: Path, tmp_path: Path
) -> None:
    recipe = tmp_path / "r.toml"
    call = ("recipe", "init", survey, "--scenario", scenario, "--share", "0", "--out", recipe)
    assert sdckit(*call, "--internal").code == 0
    assert MARKER in recipe.read_text(encoding="utf-8")
    assert recipe.stat().st_mode & 0o777 == 0o600


def test_limits_may_come_from_a_type_of_release(sdckit: Runner, survey: Path, scenario: Path, tmp_path: Path) -> None:
    scenario.write_text(SCENARIO.replace("[thresholds]\nk = 3\n", ""), encoding="utf-8")
    done = sdckit("recipe", "init", survey, "--scenario", scenario)
    assert done.code == 2
    assert "no threshold that steps could aim at" in done.err
    done = sdckit("recipe", "init", survey, "--scenario", scenario, "--release-type", "scientific-use")
    assert done.code == 0
    assert 'method = "local_suppression"' in done.out


@pytest.mark.parametrize("share", ["-0.1", "1.5", "nan"])
def test_a_share_is_one(sdckit: Runner, survey: Path, scenario: Path, share: str) -> None:
    done = sdckit("recipe", "init", survey, "--scenario", scenario, "--share", share)
    assert (done.code, done.out) == (2, "")
    assert "--share" in done.err


def test_a_ledger_without_its_key_is_told_before_the_file_is_read(
    sdckit: Runner, scenario: Path, tmp_path: Path
) -> None:
    scenario.write_text(SCENARIO + '[ledger]\nfolder = "ledger"\nkey = "gone.key"\n', encoding="utf-8")
    broken, out = tmp_path / "broken.csv", tmp_path / "r.toml"
    broken.write_bytes(b"")
    for command in (["recipe", "init"], ["propose"]):
        done = sdckit(*command, broken, "--scenario", scenario, "--out", out)
        assert (done.code, done.out) == (2, "")
        assert "there is no key gone.key" in done.err
        assert not out.exists()
