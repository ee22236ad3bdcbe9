"""Rates side by side, undefined ones as dashes, verdicts below."""

from __future__ import annotations

import io

import polars as pl
import pytest
from rich.console import Console

import sdckit as sdc
from sdckit.cli.attack_files import Attacked
from sdckit.cli.attack_runs import Made, Runs
from sdckit.cli.attack_tables import attack_parts, attack_tables
from sdckit.cli.formats import count

PEOPLE = pl.DataFrame({"age": range(20, 70), "pay": range(900, 950), "sex": ["f", "m"] * 25})
OTHERS = PEOPLE.with_columns(pl.col("age") + 0.5, pl.col("pay") + 0.5)


def text(found, control: pl.DataFrame | None, m: int = 1, by: tuple[str, ...] = ()) -> str:
    files = Attacked(PEOPLE, [PEOPLE] * m, control, ("age", "pay"), None, ())
    console = Console(width=80, file=io.StringIO())
    made = tuple(Made("", words, one) for words, one in found)
    runs = Runs(made, (("probabilistic_linkage:default", "linkage despite slips", "too many pairs"),))
    console.print(attack_tables(runs, files, name="people.csv", by=by))
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_rates_intervals_and_the_sentence() -> None:
    told = sdc.membership(PEOPLE, PEOPLE, control=OTHERS, variables=["age", "pay"], seed=1)
    shown = text([("membership", told)], OTHERS)
    assert "with intervals of 95 %" in shown
    row = next(line for line in shown.splitlines() if line.startswith("membership"))
    assert row.split() == [
        "membership",
        "50",
        "100.0",
        "%",
        "50.0",
        "%",
        "0.0",
        "%",
        f"{100 * told.risk:.1f}",
        "%",
    ]
    low, high = 100 * told.success_low, 100 * told.success_high
    assert f"{low:.1f}–{high:.1f}" in shown
    assert " ".join(told.verdict.split()) in " ".join(shown.split())
    assert "chance 1 (AUC)" in shown


def test_without_a_control_nothing_is_compared() -> None:
    found = sdc.linkability(PEOPLE, PEOPLE, known=(["age"], ["pay"]), seed=1)
    shown = text([("linkability", found)], None)
    row = next(line for line in shown.splitlines() if line.startswith("linkability"))
    assert row.split() == ["linkability", "50", "100.0", "%", "2.0", "%", "–", "–"]
    assert "Note: no control" not in shown
    assert "all attacked" in shown


def test_no_attack_at_all() -> None:
    crossed = PEOPLE.select("sex", arm=pl.col("age") % 4 > 1)  # each value stands in two distinct records
    found = sdc.singling_out(crossed, crossed, seed=1)
    shown = text([("singling out", found)], None)
    assert " ".join(found.verdict.split()) in " ".join(shown.split())
    row = next(line for line in shown.splitlines() if line.startswith("singling"))
    assert row.split()[2:] == ["0", "–", "–", "–", "–"]


@pytest.mark.parametrize("control", [None, OTHERS])
def test_distances_name_their_direction(control: pl.DataFrame | None) -> None:
    near = sdc.distance_to_closest_record(
        PEOPLE, [PEOPLE, PEOPLE], control=control, variables=["age", "pay"], resamples=19, seed=1
    )
    shown = text([("distances", near)], control, m=2)
    assert "Attacks that succeed" not in shown
    assert "2 releases against 50 records" in shown
    row = next(line for line in shown.splitlines() if line.startswith("released records equal"))
    assert row.split()[7:] == (["1"] if control is None else ["1", "0"])
    assert ("--control FILE" in shown) == (control is None)


def test_no_residual_risk_of_an_attack_that_guesses_as_well() -> None:
    far = PEOPLE.with_columns(pl.col("age") + 1000, pl.col("pay") - 1000)
    found = sdc.linkability(PEOPLE, far, control=OTHERS, known=(["age"], ["pay"]), seed=1)
    assert not found.success_rate > found.baseline_rate
    row = next(
        line for line in text([("linkability", found)], OTHERS).splitlines() if line.startswith("linkab")
    )
    assert row.split()[-1] == "–"


def test_several_releases_have_means_and_attempts_of_their_own() -> None:
    part = PEOPLE[:30]
    found = sdc.singling_out(PEOPLE, [PEOPLE, part], control=OTHERS, variables=["age", "pay"], seed=1)
    tried = [count(one["n_attacks"]) for one in found.per_release]
    assert tried[0] != tried[1]
    shown = " ".join(text([("singling out", found)], OTHERS, m=2).split())
    assert "with intervals of 95 %, means over the releases" in shown
    assert f"{tried[1]}–{tried[0]}" in shown
    assert f"Note: attempts on each release: {tried[0]}, {tried[1]}; fewer than asked for were found" in shown
    assert "their ends" not in shown
    people = pl.DataFrame({"a": ["x", "y"] * 25, "b": [f"b{i}" for i in range(50)]})
    crossed = people.with_columns(b=pl.Series([f"b{i // 2}" for i in range(50)]))  # each value in two records
    others = people.with_columns(b=pl.col("b") + "o")
    one = sdc.singling_out(people, [people, crossed], control=others, seed=1)
    shown = " ".join(text([("singling out", one)], OTHERS, m=2).split())
    assert "no attack could be made on release 2; the means are over the others" in shown
    assert "mean over the" not in shown


def test_parts_without_a_head() -> None:
    told = sdc.membership(PEOPLE, PEOPLE, control=OTHERS, variables=["age", "pay"], seed=1)
    table, _, sentence, *_ = attack_parts([("membership", told)])
    assert table.title.strip() == "Attacks that succeed, with intervals of 95 %"
    assert sentence.plain.startswith("Membership. The attack succeeds")
    assert attack_parts([]) == []


def test_subgroups_stand_behind_their_attack_and_links_before_distances() -> None:
    by = ("sex",)
    told = sdc.membership(PEOPLE, PEOPLE, control=OTHERS, variables=["age", "pay"], by=by, seed=1)
    near = sdc.distance_to_closest_record(
        PEOPLE, PEOPLE, variables=["age", "pay"], by=by, resamples=19, seed=1
    )
    linked = sdc.probabilistic_linkage(PEOPLE, PEOPLE, variables=["age", "pay", "sex"], seed=1)
    shown = text(
        [("membership", told), ("distances", near), ("linkage despite slips", linked)], OTHERS, by=by
    )
    places = [
        shown.index(words)
        for words in (
            "Attacks that succeed", "Membership. ", "Membership, by sex", "may stand first by chance",
            "Distances between", "Distances, by sex", "Linkage despite slips",
        )
    ]  # fmt: skip
    assert places == sorted(places)
    assert "Not computed: linkage despite slips – too many pairs" in shown
    assert "by sex" not in text([("membership", told)], OTHERS)
