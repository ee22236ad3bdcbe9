"""A row of the catalogue cannot be changed."""

from __future__ import annotations

import dataclasses

import pytest

from sdckit.catalogue import CATALOGUE


def test_rows_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CATALOGUE[0].name = "other"  # type: ignore[misc]
