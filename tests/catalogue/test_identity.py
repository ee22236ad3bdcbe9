"""The rows of the room `identity` stand in its own part of the catalogue, each once."""

from __future__ import annotations

from sdckit.catalogue import CATALOGUE
from sdckit.catalogue.identity import IDENTITY


def test_the_rows_of_the_room_stand_together() -> None:
    assert tuple(row for row in CATALOGUE if row.room == "identity") == IDENTITY
    assert len({row.name for row in IDENTITY}) == len(IDENTITY)
