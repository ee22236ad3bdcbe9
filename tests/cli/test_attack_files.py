"""The files of an attack: shared columns only, identifiers never, no file twice."""

from __future__ import annotations

import datetime as dt
import json
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.cli.attack_files import Attacked, check_attack_options, read_attacked, read_key, read_wanted, write_key
from sdckit.cli.source import Source
from sdckit.errors import ColumnError, DataError, FileFormatError, ScenarioError, SdcError, SdcWarning


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people = pl.DataFrame({"name": ["x", "y", "z"], "age": [20, 30, 40], "sex": ["f", "m", "f"], "code": [1, 9, 2]})
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


def test_an_identifier_that_the_file_does_not_have_is_warned_of(folder: Path) -> None:
    with pytest.warns(SdcWarning, match="no identifier 'nmae'.*did you mean 'name'"):
        read(folder, identifiers=["nmae"])


def test_a_scenario_gives_variables_numbers_codes_and_identifiers(folder: Path) -> None:
    stored = sdc.Scenario(keys=["sex"], sensitive=["code"], numeric=["age"], identifiers=["name"], missing_codes=["40"])
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
    ("has_release", "attacked", "n_attacks", "words"),
    [
        (False, True, None, "need a release"),
        (True, False, 5, "--n-attacks is of the simulated attacks"),
        (True, True, 0, "1 or more"),
    ],
)
def test_options_of_attacks_that_make_no_sense(
    has_release: bool, attacked: bool, n_attacks: int | None, words: str
) -> None:
    with pytest.raises(ScenarioError, match=words):
        check_attack_options(has_release=has_release, attacked=attacked, n_attacks=n_attacks, targets=None, id=None)


def test_options_of_attacks_that_do() -> None:
    nothing = {"targets": None, "id": None}
    check_attack_options(has_release=True, attacked=True, n_attacks=1, **nothing)
    check_attack_options(has_release=True, attacked=True, n_attacks=None, **nothing)
    check_attack_options(has_release=False, attacked=False, n_attacks=None, **nothing)


# The key of planted records: it gives back what was written, and says nothing of what it is not.


N = 40
DAY = dt.date(2020, 1, 1)
FRAME = pl.DataFrame(
    {
        "number": [float(i * i) if i else None for i in range(N)],
        "whole": range(N),
        "text": [f"Zürich, {i % 7}" for i in range(N)],
        "flag": [None if i == 3 else i % 2 == 0 for i in range(N)],
        "day": [DAY + dt.timedelta(days=i) for i in range(N)],
        "moment": [dt.datetime(2020, 1, 1, i % 24, tzinfo=dt.UTC) for i in range(N)],
        "kind": pl.Series(["a", "b"] * (N // 2), dtype=pl.Categorical),
    }
)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    made = sdc.canaries(FRAME, n=5, copies=2, seed=1)
    write_key(made, path)
    key = read_key(path)
    expected = pl.concat([made.planted, made.held_out]).with_columns(pl.col("kind").cast(pl.String))
    assert key.both.equals(expected)
    assert key.both.schema == expected.schema
    assert (key.n_planted, key.copies, key.variables) == (5, 2, made.variables)
    assert (key.numeric, list(key.ranges)) == (made.numeric, made.ranges.tolist())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_key_keeps_the_coins(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    made = sdc.canaries(FRAME, n=10, coins=True, seed=1)
    write_key(made, path)
    key = read_key(path)
    assert made.coins is not None
    assert key.coins == tuple(made.coins.tolist())
    assert key.n_planted == made.n_planted == made.planted.height
    for column in ("text", "number"):
        assert key.both.filter(made.coins)[column].equals(made.planted[column])
    plain = json.loads(path.read_text(encoding="utf-8"))
    for coins in ([True] * 20, plain["coins"][:-1], [int(side) for side in plain["coins"]], 3):
        path.write_text(json.dumps({**plain, "coins": coins}), encoding="utf-8")
        with pytest.raises(FileFormatError, match="is no key of canaries"):
            read_key(path)


def test_only_what_is_compared_is_kept_and_odd_types_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    write_key(sdc.canaries(FRAME, n=5, variables=["number", "text"], seed=1), path)
    assert read_key(path).both.columns == ["number", "text"]
    times = FRAME.select("number", "text", time=pl.col("moment").dt.time())
    with pytest.raises(DataError, match="'time' holds Time"):
        write_key(sdc.canaries(times, n=5, variables=["number", "time"], seed=1), tmp_path / "no.json")
    assert not (tmp_path / "no.json").exists()


def test_not_a_number_is_missing_and_the_key_is_json(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    one = pl.DataFrame({"number": [1.5, float("nan"), None]})
    names, ranges = ("number",), np.array([1.0])
    both = SimpleNamespace(to_native=lambda: pl.concat([one, one]))
    made = SimpleNamespace(
        both=both, n_planted=3, copies=1, variables=names, numeric=names, ranges=ranges, seed=1, coins=None
    )
    write_key(made, path)  # type: ignore[arg-type]
    assert "NaN" not in path.read_text(encoding="utf-8")
    assert read_key(path).both["number"].to_list() == [1.5, None, None] * 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plain: plain.pop("columns"),
        lambda plain: plain.update(schema="sdckit/attacks"),
        lambda plain: plain.update(n_planted=10),
        lambda plain: plain.update(ranges=[1.0]),
        lambda plain: plain["columns"]["number"].update(type="secret"),
        lambda plain: plain["columns"]["number"].update(values=["Zq7Qx"] * 10),
        lambda plain: plain["columns"].update(number=3),
    ],
)
def test_what_is_no_key(tmp_path: Path, spoil) -> None:
    path = tmp_path / "key.json"
    write_key(sdc.canaries(FRAME, n=5, seed=1), path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    spoil(plain)
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"key\.json is no key of canaries") as told:
        read_key(path)
    assert "Zq7Qx" not in str(told.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe", b"a,b\n1,2\n", b"[" * 100_000])
def test_what_is_no_json(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key.json").write_bytes(content)
    with pytest.raises(FileFormatError, match="is no key of canaries"):
        read_key(tmp_path / "key.json")
    with pytest.raises(FileFormatError, match=r"cannot read none\.json"):
        read_key(tmp_path / "none.json")
