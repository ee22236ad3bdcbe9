"""A document as PDF: printed by the browser there is, or a clear refusal before any work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sdckit as sdc
from report.real import made, page
from sdckit.errors import FileFormatError
from sdckit.report.formats import pdf
from sdckit.report.formats.pdf import find_browser, render_pdf


def test_a_document_is_printed(chromium: Path, tmp_path: Path) -> None:
    assert find_browser() == str(chromium)
    path = tmp_path / "report.pdf"
    made("one file").report(path)
    found = path.read_bytes()
    assert found.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", found)) <= 6
    assert b"/Title" in found
    assert [one.name for one in tmp_path.iterdir()] == ["report.pdf"]


def test_without_a_browser_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf.shutil, "which", lambda _: None)
    with pytest.raises(FileFormatError, match=r"none was found; install one, or write the report as \.html"):
        made("one file").report(tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "program", ["#!/bin/sh\nexit 0\n", "#!/bin/sh\nexec sleep 30\n"], ids=["silent", "slow"]
)
def test_a_browser_that_prints_nothing_is_told(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "chromium"
    script.write_text(program, encoding="utf-8")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(pdf, "SECONDS", 1)
    with pytest.raises(FileFormatError, match=r"printed nothing|did not end within 1 seconds"):
        render_pdf(page("one file"))


def test_a_confidential_pdf_is_for_its_owner(chromium: Path, tmp_path: Path) -> None:
    path = tmp_path / "internal.pdf"
    sdc.assess(sdc.load_demo().head(200), scenario=sdc.demo_scenario()).report(path, internal=True)
    assert chromium
    assert path.stat().st_mode & 0o777 == 0o600
