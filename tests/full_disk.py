"""A disk that is full: what is written beside its place goes to the device that takes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdckit.data.files import whole_files

DISK_FULL = "the disk is full, or your share of it; free some space or name another folder"


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file under way be on a full disk, for whoever writes it."""
    if not Path("/dev/full").exists():
        pytest.fail("this system has no /dev/full")
    monkeypatch.setattr(whole_files, "_make", lambda part: part.symlink_to("/dev/full"))
