"""TOML in and out, without its meaning."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given, strategies as st

from sdckit.data.scenarios.scenario_toml import read_toml, toml_entry, write_toml
from sdckit.errors import ScenarioError

text = st.text(st.characters(codec="utf-8"))
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


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb = \n", 2), ("a = 1\nb = [1,\n2\n\n", 3), ('a = """x\n', 1)]
)
def test_a_syntax_error_names_the_line(tmp_path, text, line):
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=f"line {line}"):
        read_toml(path)
