"""TOML in and out, without its meaning."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from draw import CHARACTERS
from sdckit.data.scenarios.scenario_toml import placed_entries, read_toml, toml_entry, write_toml
from sdckit.errors import FileFormatError, ScenarioError

text = st.text(CHARACTERS)
value = text | st.booleans() | st.integers() | st.floats(allow_nan=False)


@given(text, value | st.lists(value))
def test_an_entry_comes_back(name, given_value):
    assert tomllib.loads(toml_entry(name, given_value)) == {name: given_value}


@given(st.dictionaries(text, value), st.lists(text, min_size=1, max_size=3), st.dictionaries(text, value))
def test_tables_come_back(entries, path, content):
    entries.pop(path[0], None)
    inner = content
    for part in reversed(path):
        inner = {part: inner}
    assert tomllib.loads(write_toml(entries, [(path, content)])) == entries | inner


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb = \n", 2), ("a = 1\nb = [1,\n2\n\n", 3), ('a = """x\n', 1)])
def test_a_syntax_error_names_the_line(tmp_path, text, line):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=f"line {line}"):
        read_toml(path)


# The entries of a scenario file, read from anywhere.


def test_paths_start_where_the_file_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s.toml").write_text(
        'keys = ["sex", "job"]\nrelease_types = "office.toml"\n'
        '[hierarchies]\njob = "jobs.csv"\n[ledger]\nfolder = "book"\nkey = "/keys/k"\nsurvey = "S"\n'
        '[children]\nfile = "v.csv"\nkey = "p"\nkeys = ["x"]\nreleased = "/r/v.csv"\n'
        '[[tables]]\nfile = "t.csv"\n[[tables]]\nvariables = ["sex"]\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    found = placed_entries("s.toml")
    assert found["keys"] == ["sex", "job"]
    assert found["release_types"] == str(tmp_path / "office.toml")
    assert found["hierarchies"] == {"job": str(tmp_path / "jobs.csv")}
    assert found["ledger"] == {"folder": str(tmp_path / "book"), "key": "/keys/k", "survey": "S"}
    place = {"file": str(tmp_path / "v.csv"), "key": "p", "keys": ["x"], "released": ["/r/v.csv"]}
    assert found["children"] == place
    assert found["tables"] == [{"file": str(tmp_path / "t.csv")}, {"variables": ["sex"]}]


def test_a_table_of_types_stays_and_what_is_odd_is_left_to_the_scenario(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("hierarchies = 3\ntables = [4]\n[release_types.office]\nk = 3\n", encoding="utf-8")
    assert placed_entries(path) == {"hierarchies": 3, "tables": [4], "release_types": {"office": {"k": 3}}}


def test_no_file_and_no_toml_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError):
        placed_entries(tmp_path / "none.toml")
    (tmp_path / "s.toml").write_text("keys = [")
    with pytest.raises(ScenarioError):
        placed_entries(tmp_path / "s.toml")


def test_no_file_has_a_nul_character_in_its_name() -> None:
    with pytest.raises(FileFormatError, match="there is no file of release types"):
        read_toml(Path("a\0"), what="file of release types")
