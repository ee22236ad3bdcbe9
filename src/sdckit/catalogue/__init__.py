"""One row per measure: where it stands, what it needs, which way it points, where it comes from."""

from __future__ import annotations

from sdckit.catalogue.attacks import ATTACKS
from sdckit.catalogue.attribute import ATTRIBUTE
from sdckit.catalogue.identity import IDENTITY
from sdckit.catalogue.row import Measure
from sdckit.catalogue.utility import UTILITY

__all__ = ["CATALOGUE", "Measure", "measure"]

CATALOGUE: tuple[Measure, ...] = (*IDENTITY, *ATTRIBUTE, *ATTACKS, *UTILITY)


def measure(name: str) -> Measure:
    """Find the row of a measure.

    Examples
    --------
    >>> measure("k_anonymity").room
    'identity'
    """
    for row in CATALOGUE:
        if row.name == name:
            return row
    raise KeyError(
        f"the catalogue has no measure {name!r}; it has {', '.join(row.name for row in CATALOGUE)}"
    )
