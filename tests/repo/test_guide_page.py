"""The guide page prints what its code gives, and its commands exist."""

from __future__ import annotations

import doctest
import re
import shlex

import pytest

from sdckit.cli.app import run
from tree import ROOT

PAGE = ROOT / "docs" / "who-can-be-recognised.md"


@pytest.mark.filterwarnings("ignore::sdckit.errors.SdcWarning")
def test_every_figure_is_what_the_code_gives() -> None:
    failed, tried = doctest.testfile(
        str(PAGE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
    assert tried > 25


def test_the_commands_understand_their_options(
    tmp_path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")
    commands = re.findall(r"^sdckit .*$", text, flags=re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        assert run(shlex.split(command)[1:]) == 2
        assert re.search(r"^error: .*affairs\.csv", capsys.readouterr().err)


def test_the_readme_leads_here() -> None:
    assert "docs/who-can-be-recognised.md" in (ROOT / "README.md").read_text(encoding="utf-8")
