"""Nothing in the project names a folder of the machine it was written on, or is left unfinished."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tree import ROOT, sources, text_files

# Put together here so that this file does not match itself.
MACHINE = re.compile(
    "|".join(rf"(?<![\w.<-])/{name}/" for name in ("wo" + "rk", "ho" + "me", "ro" + "ot", "fa" + "rm"))
)
UNFINISHED = re.compile("|".join(("TO" + "DO", "FIX" + "ME", "XX" + "X", "NotImplemented" + "Error")))


@pytest.mark.parametrize("path", text_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_path_of_a_machine(path: Path) -> None:
    assert not MACHINE.findall(path.read_text(encoding="utf-8", errors="replace"))


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_left_unfinished(path: Path) -> None:
    assert not UNFINISHED.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", text_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_text_file_is_large(path: Path) -> None:
    assert path.stat().st_size <= 1_000_000
