"""Subgroups of attacks: worst first, ten rows, nothing where nothing was attacked."""

from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console

import sdckit as sdc
from sdckit.cli.attack_groups import group_parts
from sdckit.data.frames import rows_of

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


def text(parts) -> str:
    console = Console(width=80, file=io.StringIO())
    for part in parts:
        console.print(part)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def rows(shown: str) -> list[list[str]]:
    """The words of each row of the table."""
    lines = shown.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("──"))
    return [line.split() for line in lines[start + 1 :] if line.strip() and not line.startswith("…")]


def test_the_worst_group_stands_first_and_ten_are_shown() -> None:
    found = sdc.membership(PEOPLE, RELEASED, control=OTHERS, variables=NAMES, by=["town"], seed=1)
    shown = text(group_parts("membership", found, ("town",)))
    assert "Membership, by town" in shown
    expected = list(rows_of(found.by_group))
    assert len({row["residual"] for row in expected}) > 3
    assert expected[0]["residual"] > 0 > expected[9]["residual"]
    for words, row in zip(rows(shown), expected[:10], strict=True):
        assert words[:4] == [row["town"], "10", f"{100 * row['success_rate']:.1f}", "%"]
        better = row["success_rate"] > row["baseline_rate"]
        ends = f"{100 * row['risk_low']:.0f}–{100 * row['risk_high']:.0f}"
        assert words[-1] == (ends if better else "–")
    assert "… 2 more" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_group_that_the_control_lacks_has_no_risk() -> None:
    others = OTHERS.filter(pl.col("town") != "t3")
    people = PEOPLE.filter(pl.col("town").is_in(["t3", "t4"]))
    found = sdc.inference(people, RELEASED, control=others, known=["age"], target="pay", by="town", seed=1)
    words = rows(text(group_parts("inference of pay", found, ("town",))))
    assert words[-1][0] == "t3"
    assert words[-1][-3:] == ["–", "–", "–"]


def test_without_a_control_the_interval_is_that_of_the_attack() -> None:
    found = sdc.inference(PEOPLE, PEOPLE, known=["age"], target="pay", by="sex", seed=1)
    shown = text(group_parts("inference of pay", found, ("sex",)))
    assert "never in it" not in shown
    assert {row[0] for row in rows(shown)} == {"(missing)", "f"}
    rates = [row["success_rate"] for row in rows_of(found.by_group)]
    assert rates == sorted(rates, reverse=True)
    first = next(row for row in rows_of(found.by_group))
    assert f"{100 * first['success_low']:.0f}–{100 * first['success_high']:.0f}" in rows(shown)[0]
    assert "more" not in shown


def test_several_releases_and_columns() -> None:
    found = sdc.linkability(
        PEOPLE, [PEOPLE, OTHERS], known=(["age"], ["pay"]), by=["sex", "town"], n_attacks=20, seed=1
    )
    shown = text(group_parts("linkability", found, ("sex", "town")))
    assert "Linkability, by sex, town" in shown
    assert {row[2] for row in rows(shown)} <= {"1", "2"}
    assert "… 14 more" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_no_table_where_no_group_was_attacked() -> None:
    crossed = PEOPLE.select("sex", "town", arm=pl.col("age") % 4 > 1)
    found = sdc.singling_out(crossed, crossed, variables=["sex", "arm"], by="town", seed=1)
    assert found.n_attacks == 0
    assert group_parts("singling out", found, ("town",)) == []


@pytest.mark.parametrize("control", [None, OTHERS])
def test_distances_of_groups(control: pl.DataFrame | None) -> None:
    near = sdc.distance_to_closest_record(
        PEOPLE, [OTHERS, PEOPLE], control=control, variables=NAMES, by=["town"], resamples=19, seed=1
    )
    shown = text(group_parts("distances", near, ("town",)))
    assert [row[1] for row in rows(shown)] == ["2"] * 10  # the copy is nearest
    assert {row[3] for row in rows(shown)} == {"0"}
    assert "… 14 more" in shown
    assert ("nearest to an" in shown) == (control is not None)
