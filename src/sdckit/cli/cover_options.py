"""The options that say whose a report is, and what its readers call the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from sdckit.errors import ScenarioError

PANEL = "Output"


@dataclass(frozen=True, kw_only=True)
class CoverOptions:
    """The file's name for readers, the institution, and the language."""

    name: Annotated[
        str | None, Option(metavar="TEXT", help="What the report calls the file.", rich_help_panel=PANEL)
    ] = None
    institution: Annotated[
        str | None, Option(metavar="TEXT", help="Who made the report.", rich_help_panel=PANEL)
    ] = None
    logo: Annotated[
        Path | None, Option(metavar="L.png", help="A picture of the institution.", rich_help_panel=PANEL)
    ] = None

    language: Annotated[
        str | None,
        Option(metavar="LANGUAGE", help="What the report is written in: en or de.", rich_help_panel=PANEL),
    ] = None

    def check(self, *, written: bool) -> None:
        """Refuse a cover without a report, a logo that is no picture and an unknown language, before any work."""
        given = (self.name, self.institution, self.logo, self.language)
        if not written and any(one is not None for one in given):
            raise ScenarioError(
                "--name, --institution, --logo and --language are those of a report; name it by --report"
            )
        if written and self.logo is not None:
            from sdckit.report.cover import Cover

            _ = Cover(logo=self.logo).picture
        if written and self.language is not None:
            from sdckit.report.language import check_language

            check_language(self.language)

    def arguments(self, *files: Path | None) -> dict[str, Any]:
        """What `report` takes; the files are those that were read."""
        read: Sequence[Path] = [one for one in files if one is not None]
        return {
            "name": self.name or "",
            "institution": self.institution or "",
            "logo": self.logo,
            "files": read,
            "language": self.language or "en",
        }
