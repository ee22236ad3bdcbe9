"""The guide pages print what their code gives, and their commands exist."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest

from sdckit.cli.app import run
from tree import ROOT

# Each page with its number of commands.
PAGES = {
    "scenarios": 3,
    "who-can-be-recognised": 4,
    "release-against-original": 5,
    "simulated-attacks": 9,
    "what-is-it-good-for": 1,
    "from-raw-to-released": 4,
    "seeds": 3,
}


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_every_figure_is_what_the_code_gives(name: str) -> None:
    page = ROOT / "docs" / f"{name}.md"
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert tried > 15


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_understand_their_options(
    name: str, tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").replace("\\\n", " ")
    commands = re.findall(r"^sdckit .*$", text, flags=re.MULTILINE)
    assert len(commands) == PAGES[name]
    for command in commands:
        assert run(shlex.split(command)[1:]) == 2
        files = r"(affairs\.csv|survey\.sav|train\.csv|(scenario|recipe)\.toml|key\.json)"
        assert re.search(rf"^error: .*{files}", capsys.readouterr().err)


@pytest.mark.parametrize("name", PAGES)
def test_the_readme_leads_here(name: str) -> None:
    assert f"docs/{name}.md" in (ROOT / "README.md").read_text(encoding="utf-8")
