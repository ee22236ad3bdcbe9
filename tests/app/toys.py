"""A seat whose worker has toy tasks, and a way to run jobs on it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sdckit.app.browser_sessions import Autosave, Folders, Seat, Seats, Work, Worker

TOYS = (sys.executable, str(Path(__file__).with_name("toy_worker.py")))


def toy_seats(state: Path, **first: Any) -> Seats:
    """Seats whose pages start no worker by themselves: one begins where a task asks for it."""
    folders = Folders(state)
    return Seats(folders, Autosave(folders.state), Work(**first), warm=600.0)


def toy_seat(state: Path, **first: Any) -> Seat:
    seat = toy_seats(state, **first).take("", reloaded=False)
    seat.worker = Worker(seat.folder, program=TOYS)
    return seat
