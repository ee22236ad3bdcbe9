"""Every place of the product that tells its audit what anybody knows, found by running it, and taken out one by one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sdckit.report.gate.figures import Ledger

Site = tuple[str, str]
LEDGER = "figures"


def _caller() -> Site:
    """The file and the function two calls up."""
    code = sys._getframe(2).f_code
    return Path(code.co_filename).stem, code.co_name


class Sifted(list[Any]):
    """Relations; those from the place taken out never arrive."""

    def __init__(self, found: Any, drops: Callable[[Site], bool]) -> None:
        super().__init__(found)
        self.drops = drops

    def append(self, one: Any) -> None:
        if not self.drops(_caller()):
            super().append(one)

    def __iadd__(self, several: Any) -> Sifted:  # type: ignore[misc,override]
        if not self.drops(_caller()):
            super().extend(several)
        return self


@contextmanager
def sifted(drops: Callable[[Site], bool]) -> Iterator[None]:
    """Let every relation pass by `drops`, which says by its place whether it is lost."""
    with pytest.MonkeyPatch.context() as patch:
        started = Ledger.__init__

        def start(self: Ledger, *given: Any, **named: Any) -> None:
            started(self, *given, **named)
            self.relations = Sifted(self.relations, drops)

        patch.setattr(Ledger, "__init__", start)
        for name in ("equal", "nested", "bounded"):
            patch.setattr(Ledger, name, _passing(name, getattr(Ledger, name), drops))
        yield


def _passing(name: str, told: Callable[..., None], drops: Callable[[Site], bool]) -> Callable[..., None]:
    def tell(self: Ledger, *given: Any, **named: Any) -> None:
        place = _caller()
        if place[0] == LEDGER or not drops(place):
            told(self, *given, **named)
        elif name == "nested" and set(given) <= self.variables.keys() and given[0] != given[1]:
            self.latent(f"{given[0]} - {given[1]}")  # other relations speak of it

    return tell


@contextmanager
def without(site: Site) -> Iterator[None]:
    """The product as if this place told nothing."""
    with sifted(lambda place: place == site):
        yield


def sites_of(write: Callable[[], Any]) -> set[Site]:
    """The places that tell something while a document is written."""
    found: set[Site] = set()

    def note(place: Site) -> bool:
        if place[0] != LEDGER:
            found.add(place)
        return False

    with sifted(note):
        write()
    return found
