"""Linkage as tables: rate beside guessing, and the weights shortened."""

from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console

import sdckit as sdc
from sdckit.cli import attack_linkage as home
from sdckit.cli.attack_linkage import linkage_parts

NAMES = [f + l for f in ("Anna", "Berta", "Chloe", "Dora") for l in ("Kant", "Mill", "Hume", "Locke", "Marx")]  # noqa: E741
PEOPLE = pl.DataFrame(
    {"name": NAMES * 3, "age": [20 + (7 * i) % 61 for i in range(60)], "town": ["a", "b", "c"] * 20}
)
TYPED = PEOPLE.with_columns(name=pl.col("name").str.replace("a", "o"))


def text(parts) -> str:
    console = Console(width=80, file=io.StringIO())
    for part in parts:
        console.print(part)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def found():
    return sdc.probabilistic_linkage(PEOPLE, [TYPED, PEOPLE], variables=["name", "age", "town"], seed=1)


def test_every_figure_beside_its_words(found) -> None:
    shown = text(linkage_parts("linkage despite slips", found))
    row = next(line for line in shown.splitlines() if line.startswith("released records linked"))
    assert row.split()[-3:] == [
        f"{100 * found.rate:.1f}", "%", f"{100 * found.rate_low:.1f}–{100 * found.rate_high:.1f}",
    ]  # fmt: skip
    for words, value in (
        ("the same by guessing", found.baseline),
        ("pairs called a match that are right", found.precision),
        ("records whose pair is among them", found.recall),
    ):
        line = next(line for line in shown.splitlines() if line.startswith(words))
        assert line.split()[-2:] == [f"{100 * value:.1f}", "%"]
    assert "of 3,600 pairs compared are called a match" in shown
    assert "How sure can the intruder be?, release 1" in shown
    first = found.scores.row(0, named=True)
    line = shown.splitlines()[-2 - len(home._shortened(found.scores.filter(release=1).to_dicts())) + 1]
    assert line.split()[:3] == [f"{first['weight']:.0f}", f"{first['pairs']:,}", f"{first['right']:,}"]
    assert "Note: 1 of 2 releases have the original's values" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_weights_at_which_nothing_changes_are_left_out_and_eight_are_shown(found) -> None:
    scores = [row for row in found.scores.to_dicts() if row["release"] == 1]
    rows = home._shortened(scores)
    assert len(rows) <= 8
    assert len({row["pairs"] for row in rows}) == len(rows)
    assert rows[0] == scores[0]
    assert rows[-1]["pairs"] == scores[-1]["pairs"]
    many = [{"pairs": i} for i in range(100)]
    assert [row["pairs"] for row in home._shortened(many)] == [0, 14, 28, 42, 57, 71, 85, 99]
    assert home._shortened(many[:8]) == many[:8]


def test_no_pair_at_all() -> None:
    apart = PEOPLE.with_columns(name=pl.lit("x") + pl.col("name"), town=pl.lit("z"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "rows_of", lambda frame: [])
        found = sdc.probabilistic_linkage(PEOPLE, apart, variables=["name", "age", "town"], seed=1)
        shown = text(linkage_parts("linkage", found))
    assert "How sure" not in shown
