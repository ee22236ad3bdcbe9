"""The README's example runs, its commands exist, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sdckit.cli.app import run
from tree import ROOT, none_offends

README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "ARCHITECTURE.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
EXAMPLE = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
COMMANDS = re.findall(r"^sdckit (?:assess|check) .*$", README, flags=re.MULTILINE)


def test_the_example_runs_and_writes_its_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(EXAMPLE) == 1
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(EXAMPLE[0], names)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert 0 < names["risk"].global_risk < 1


def test_the_commands_understand_their_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(COMMANDS) == 4
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        assert run(shlex.split(command)[1:]) == 2
        assert re.search(r"^error: .*(survey\.csv|scenario\.toml)", capsys.readouterr().err)


def broken(page: Path) -> list[str]:
    """The links of a page that lead to no file."""
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    return [one for one in targets if "://" not in one and not (page.parent / one).exists()]


def test_links_lead_somewhere() -> None:
    none_offends(
        (f"{page.relative_to(ROOT)}: {one}" for page in PAGES for one in broken(page)),
        "a link leads to a file",
    )
