"""Scenario and recipe of the last sessions, kept for the next start; never data, and no secret of the draws."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

from sdckit.app.work import Work
from sdckit.data.files.whole_files import replacing
from sdckit.errors import FileFormatError

NAME = "last-work.json"


class Autosave:
    """One file that only its owner may read: what was decided last.

    Parameters
    ----------
    folder
        The user's folder of the app.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self.found = self._read()

    def _read(self) -> dict[str, Any] | None:
        """What the last start left; None for nothing, or for a file that is not ours."""
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            Work().taken_up(found)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None
        return dict(found) if found.get("scenario") or found.get("steps") else None

    def keep(self, work: Work) -> None:
        """Write scenario and recipe; an empty session leaves what is there."""
        saved = work.saved()
        if saved["scenario"] or saved["steps"]:
            told = json.dumps({**saved, "day": time.strftime("%Y-%m-%d")}, default=str)
            with (
                contextlib.suppress(FileFormatError),  # a full disk must not end the work
                replacing(self._path, what="the saved work", private=True) as part,
            ):
                part.write_text(told, encoding="utf-8")

    def forget(self) -> None:
        """Remove what was kept."""
        self.found = None
        self._path.unlink(missing_ok=True)
