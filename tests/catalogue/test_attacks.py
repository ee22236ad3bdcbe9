"""The rows of the room `attacks` stand in its own part of the catalogue, each once."""

from __future__ import annotations

from sdckit.catalogue import CATALOGUE
from sdckit.catalogue.attacks import ATTACKS


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "attacks") == ATTACKS
    assert len({row.name for row in ATTACKS}) == len(ATTACKS)
