"""The rows of the room `utility` stand in its own part of the catalogue, each once."""

from __future__ import annotations

from sdckit.catalogue import CATALOGUE
from sdckit.catalogue.utility import UTILITY


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "utility") == UTILITY
    assert len({row.name for row in UTILITY}) == len(UTILITY)
