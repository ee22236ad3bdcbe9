"""What the worker holds: the open file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["Desk"]


class Desk:
    """The data of a session, in the worker only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.memo: dict[str, Any] = {}

    def open(self, path: str, reading: dict[str, Any]) -> None:
        """Read a file; at once where that very file is open with that reading."""
