"""The file of a recipe: steps, hierarchies, and messages with its name."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.errors import FileFormatError, ScenarioError
from sdckit.workflow.recipes.recipe_file import checked_steps, digests, hierarchies, naming, read_steps

UP = {"method": "recode", "column": "x", "hierarchy": "x.csv", "level": 1}


def test_steps_are_read_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "r.toml"
    path.write_text('[[steps]]\nmethod = "round_to"\ncolumn = "x"\nbase = 5\n')
    assert [one.method for one in read_steps(path)] == ["round_to"]
    path.write_text('[[steps]]\nmethod = "round_to"\ncolumn = "x"\n')
    with pytest.raises(ScenarioError, match=r"r\.toml: step 1 \(round_to\): round_to needs 'base'"):
        read_steps(path)
    with pytest.raises(FileFormatError, match="there is no recipe"):
        read_steps(tmp_path / "none.toml")
    with pytest.raises(ScenarioError, match="at least one step"):
        checked_steps([])


def test_digests_know_a_file_again(tmp_path: Path) -> None:
    steps = checked_steps([UP, UP])
    assert hierarchies(steps) == ("x.csv",)
    assert digests(steps, tmp_path) == {}
    (tmp_path / "x.csv").write_text("1;a\n")
    before = digests(steps, tmp_path)
    (tmp_path / "x.csv").write_text("1;b\n")
    assert before != digests(steps, tmp_path)
    assert list(before) == ["x.csv"]


def test_a_message_has_the_name_once() -> None:
    with pytest.raises(ScenarioError, match=r"^r\.toml: no$"), naming(Path("r.toml")):
        raise ScenarioError("no")
    with pytest.raises(ScenarioError, match=r"^r\.toml, line 2: no$"), naming(Path("r.toml")):
        raise ScenarioError("r.toml, line 2: no")
