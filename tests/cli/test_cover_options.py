"""The options that say whose a report is: given to it, refused without one, looked at before any work."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.cli.cover_options import CoverOptions
from sdckit.errors import DataError, FileFormatError, ScenarioError

PNG = b"\x89PNG\r\n\x1a\n"


def test_what_is_given_reaches_the_report() -> None:
    given = CoverOptions(name="Survey", institution="Office", logo=Path("l.png"), language="de")
    assert given.arguments(Path("a.csv"), None, Path("b.csv")) == {
        "name": "Survey", "institution": "Office", "logo": Path("l.png"), "files": [Path("a.csv"), Path("b.csv")],
        "language": "de",
    }  # fmt: skip
    assert CoverOptions().arguments() == {
        "name": "", "institution": "", "logo": None, "files": [], "language": "en",
    }  # fmt: skip


def test_a_cover_without_a_report_is_refused(tmp_path: Path) -> None:
    CoverOptions().check(written=False)
    for given in (
        CoverOptions(name="a"),
        CoverOptions(institution="a"),
        CoverOptions(logo=tmp_path),
        CoverOptions(language="de"),
    ):
        with pytest.raises(ScenarioError, match="--language are those of a report; name it by --report"):
            given.check(written=False)


def test_a_logo_is_looked_at_before_any_work(tmp_path: Path) -> None:
    logo = tmp_path / "logo.png"
    logo.write_bytes(PNG)
    CoverOptions(logo=logo, name="a").check(written=True)
    logo.write_bytes(b"GIF89a")
    with pytest.raises(FileFormatError, match=r"no \.png or \.jpg"):
        CoverOptions(logo=logo).check(written=True)


def test_an_unknown_language_is_refused_before_any_work() -> None:
    CoverOptions(language="de").check(written=True)
    with pytest.raises(DataError, match="language 'xx' is unknown"):
        CoverOptions(language="xx").check(written=True)
