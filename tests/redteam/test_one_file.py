"""No count of one to four is left with fewer than three values, and whatever the product forgets is found out."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from redteam.one_file import puzzle_of
from redteam.puzzle import Puzzle, Solver, given_away
from redteam.sites import Site, sites_of, without
from redteam.worlds import assessed, document_of, world

WORLDS = range(18)
OF_PEOPLE = (19, 20, 22, 23, 25)  # with visits in another file, and an amount
# Worlds where "sex" alone is known, with two common levels and a few gaps: that 3-anonymity holds and 5-anonymity does
# not says that these are 3 or 4, and a verdict is given whatever it tells.
TOLD_BY_VERDICTS = frozenset({3, 17})
OF_SEX = ("sex", "age+sex but age")
# A place that tells the audit something, and the world in which its silence gives a count away.
TOLD_AT: dict[Site, int] = {
    ("household_structure", "_link_pooled"): 7,
    ("key_contributions", "_counts"): 4,
    ("l_diversity", "_link_cells"): 0,
    ("relations", "_bins"): 2,
    ("relations", "link_records"): 2,
    ("relations", "make_sizes"): 5,
}
SECONDS = 60


def read(number: int, document: dict[str, Any]) -> Puzzle:
    one = world(number)
    return puzzle_of(document, len(one.data), one.weights)


@pytest.mark.parametrize("number", [*WORLDS, *OF_PEOPLE])
def test_what_the_reader_knows_is_true(number: int) -> None:
    """The exact figures fit together: nothing that is said of them is wrong."""
    exact = read(number, document_of(assessed(number), internal=True))
    assert Solver(exact).solve({})


@pytest.mark.parametrize("number", [*WORLDS, *OF_PEOPLE])
def test_no_small_count_is_given_away(number: int) -> None:
    found = given_away(read(number, document_of(assessed(number))))
    assert {name for name in found if number not in TOLD_BY_VERDICTS or not name.startswith(OF_SEX)} == set()


@contextmanager
def in_time() -> Iterator[None]:
    """Give up after a while: without what it was told, the audit may search long."""

    def late(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _gives_away(site: Site, number: int) -> bool:
    try:
        with in_time():
            with without(site):
                document = document_of(assessed(number))
            return bool(given_away(read(number, document), first=True))
    except TimeoutError:
        return False


@pytest.mark.parametrize("site", TOLD_AT, ids=".".join)
def test_what_the_product_forgets_is_found_out(site: Site) -> None:
    first = TOLD_AT[site]
    numbers = [first, *(number for number in WORLDS if number not in {first, *TOLD_BY_VERDICTS})]
    assert any(_gives_away(site, number) for number in numbers)


def test_the_places_are_those_of_the_product() -> None:
    """World 7 has households and sensitive answers, and tells at all of them; a place with another name is missed."""
    assert set(TOLD_AT) <= sites_of(lambda: document_of(assessed(7)))
