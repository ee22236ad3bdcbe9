"""The rows of the room `attribute` stand in its own part of the catalogue, each once."""

from __future__ import annotations

from sdckit.catalogue import CATALOGUE
from sdckit.catalogue.attribute import ATTRIBUTE


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "attribute") == ATTRIBUTE
    assert len({row.name for row in ATTRIBUTE}) == len(ATTRIBUTE)
