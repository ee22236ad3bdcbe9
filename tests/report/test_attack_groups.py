"""Subgroups of attacks in a confidential document: worst first, ten rows, nothing where nothing was attacked."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import sdckit as sdc
from sdckit.data.frames import rows_of
from sdckit.report.blocks import TableBlock
from sdckit.report.notebook import screen_blocks

N = 240
EVERYBODY = pl.DataFrame(
    {
        "age": [20 + (7 * i) % 61 for i in range(N)],
        "pay": [900 + (13 * i) % 401 for i in range(N)],
        "town": [f"t{i % 12}" for i in range(N)],
        "sex": [None if i % 3 == 0 else "f" for i in range(N)],
    }
)
PEOPLE, OTHERS = EVERYBODY[: N // 2], EVERYBODY[N // 2 :]
NAMES = ["age", "pay"]
KEPT = pl.Series([i // 12 < i % 12 for i in range(N // 2)])  # nobody of the first town, all of the last
RELEASED = pl.concat([PEOPLE.filter(KEPT), OTHERS.filter(~KEPT)])


def groups_of(found: Any) -> tuple[TableBlock | None, str]:
    """The table of subgroups, and all words of the document."""
    blocks = screen_blocks(found)
    words = "\n".join(str(getattr(block, "text", "")) for block in blocks)
    tables = [block for block in blocks if isinstance(block, TableBlock) and ", by " in block.caption]
    assert len(tables) <= 1
    return tables[0] if tables else None, words


def column(table: TableBlock, name: str) -> list[str]:
    return [row[table.columns.index(name)] for row in table.rows]


def test_the_worst_group_stands_first_and_ten_are_shown() -> None:
    found = sdc.membership(PEOPLE, RELEASED, control=OTHERS, variables=NAMES, by=["town"], seed=1)
    table, words = groups_of(found)
    assert table is not None
    assert table.caption == "Telling who is in the file, by town"
    expected = list(rows_of(found.by_group))
    assert len({row["residual"] for row in expected}) > 3
    assert expected[0]["residual"] > 0 > expected[9]["residual"]
    for texts, row in zip(table.rows, expected[:10], strict=True):
        assert texts[:3] == (row["town"], "10", f"{100 * row['success_rate']:.1f} %")
        ends = f"{100 * row['risk_low']:.0f}–{100 * row['risk_high']:.0f}"
        assert texts[table.columns.index("Interval")] == (ends if row["success_rate"] > row["baseline_rate"] else "–")
    assert "… 2 more" in words
    assert "may stand first by chance" in words


def test_a_group_that_the_control_lacks_has_no_risk() -> None:
    others = OTHERS.filter(pl.col("town") != "t3")
    people = PEOPLE.filter(pl.col("town").is_in(["t3", "t4"]))
    found = sdc.inference(people, RELEASED, control=others, known=["age"], target="pay", by="town", seed=1)
    table, _ = groups_of(found)
    assert table is not None
    assert table.rows[-1][0] == "t3"
    assert table.rows[-1][-3:] == ("–", "–", "–")
    assert table.columns[-3:] == ("Never in it", "Risk", "Interval")


def test_without_a_control_the_interval_is_that_of_the_attack() -> None:
    found = sdc.inference(PEOPLE, PEOPLE, known=["age"], target="pay", by="sex", seed=1)
    table, words = groups_of(found)
    assert table is not None
    assert table.columns == ("sex", "Tries", "Succeed", "Guessing", "Interval")
    assert set(column(table, "sex")) == {"(missing)", "f"}
    rates = [row["success_rate"] for row in rows_of(found.by_group)]
    assert rates == sorted(rates, reverse=True)
    first = next(iter(rows_of(found.by_group)))
    assert table.rows[0][-1] == f"{100 * first['success_low']:.0f}–{100 * first['success_high']:.0f}"
    assert " more" not in words


def test_several_releases_and_columns() -> None:
    found = sdc.linkability(
        PEOPLE, [PEOPLE, OTHERS], known=(["age"], ["pay"]), by=["sex", "town"], n_attacks=20, seed=1
    )
    table, words = groups_of(found)
    assert table is not None
    assert table.caption == "Linking two pieces of knowledge, by sex, town"
    assert table.columns[:3] == ("sex", "town", "Release")
    assert len(table.rows) == 10
    assert set(column(table, "Release")) <= {"1", "2"}
    assert "… 14 more" in words


def test_no_table_where_no_group_was_attacked() -> None:
    crossed = PEOPLE.select("sex", "town", arm=pl.col("age") % 4 > 1)
    found = sdc.singling_out(crossed, crossed, variables=["sex", "arm"], by="town", seed=1)
    assert found.n_attacks == 0
    table, words = groups_of(found)
    assert table is None
    assert "by chance" not in words


@pytest.mark.parametrize("control", [None, OTHERS])
def test_distances_of_groups(control: pl.DataFrame | None) -> None:
    near = sdc.distance_to_closest_record(
        PEOPLE, [OTHERS, PEOPLE], control=control, variables=NAMES, by=["town"], resamples=19, seed=1
    )
    table, words = groups_of(near)
    assert table is not None
    assert column(table, "Release") == ["2"] * 10  # the copy is nearest
    assert set(column(table, "median distance")) == {"0"}
    assert set(column(table, "hit")) == {"100.0 %"}
    assert set(column(table, "originals")) == {"10"}
    assert "… 14 more" in words
    assert ("nearest to an original" in table.columns) == (control is not None)


def test_attempts_of_each_release_and_means_over_some() -> None:
    people = pl.DataFrame({"age": range(20, 70), "pay": range(900, 950), "sex": ["f", "m"] * 25})
    others = people.with_columns(pl.col("age") + 0.5, pl.col("pay") + 0.5)
    found = sdc.singling_out(people, [people, people[:30]], control=others, variables=NAMES, seed=1)
    tried = [f"{one['n_attacks']:,.0f}" for one in found.per_release]
    assert tried[0] != tried[1]
    note = f"attempts on each release: {tried[0]}, {tried[1]}; fewer than asked for were found"
    words = groups_of(found)[1]
    assert f"Singling out: {note}" in words
    assert "their ends" not in words
    alone = pl.DataFrame({"a": ["x", "y"] * 25, "b": [f"b{i}" for i in range(50)]})
    crossed = alone.with_columns(b=pl.Series([f"b{i // 2}" for i in range(50)]))  # each value in two records
    gone = sdc.singling_out(alone, [alone, crossed], control=alone.with_columns(pl.col("b") + "o"), seed=1)
    words = groups_of(gone)[1]
    assert "no attack could be made on release 2; the means are over the others" in words
    assert "mean over the" not in words
