"""What two views share: columns of which a release gives values back, by itself or with published tables."""

from __future__ import annotations

from collections.abc import Mapping

from sdckit.report.blocks import TableBlock
from sdckit.report.shares import by_release, release_heads
from sdckit.report.view import Plain

FEWEST = 5  # values given back that are printed as a number


def shown_share(back: int, whole: int) -> float:
    """The share by which columns are put in order: a hidden number at its bound, exact ones would tell it.

    >>> shown_share(2, 100) == shown_share(4, 100), shown_share(7, 100), shown_share(0, 100)
    (True, 0.07, 0.0)
    """
    counted = back if back == 0 or back >= FEWEST else FEWEST
    return float(min(1.0, counted / whole))


def columns_given_back(plain: Plain, place: str) -> list[str] | None:
    """The columns of which anything is given back; None where no value was asked about.

    >>> one = {"column": "age", "back": {"value": 12}}
    >>> columns_given_back({"here": {"releases": [{"columns": [one, one]}]}}, "here")
    ['age']
    """
    told = [one for release in plain[place]["releases"] for one in release["columns"]]
    if not told:
        return None
    return list(dict.fromkeys(one["column"] for one in told if one["back"]["value"] != 0))


def put_back_tables(tree: Plain, words: Mapping[str, str], *, head: str, title: str) -> list[TableBlock]:
    """Who can be recognised in the file put back: a row for each figure of `words`, a column for each release."""
    releases = [one for one in tree["releases"] if next(iter(words)) in one]
    if not releases:
        return []
    heads = (head, *release_heads(len(releases)))
    rows = tuple(
        (said.format(k=releases[0]["k"]), *by_release([one[name] for one in releases]))
        for name, said in words.items()
    )
    return [TableBlock(title, heads, rows, tuple(range(1, len(heads))))]
