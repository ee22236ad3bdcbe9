"""Blocks of documents on a terminal: what stands there, in 80 columns and in 120, in words and without colour."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

import sdckit as sdc
from draw import quiet
from sdckit.cli.terminal import make_console, print_blocks, print_measure, show_blocks, show_page
from sdckit.report.blocks import ChartBlock, Code, Facts, Page, Paragraph, Section, TableBlock, Tables, Verdicts
from sdckit.report.notebook import screen_blocks, screen_page

MARKER = "Zq7Qx"
KEYS = ["region", "k0", "k1", "k2", "k3"]
WIDTHS = (80, 120)


def survey(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(11)
    region = rng.choice(["north", "south", "east"], n).tolist()
    region[5] = MARKER
    columns: dict[str, Any] = {
        "region": region, "x": rng.lognormal(5, 1, n).round(2), "same": [1.0] * n, "one": ["y"] * n,
        "hh": np.arange(n) // 3, "ill": rng.choice(["yes", "no"], n), "pid": np.arange(n) // 2,
        **{f"k{i}": rng.integers(0, 3, n) for i in range(4)},
    }  # fmt: skip
    return pl.DataFrame(columns)


def text(parts: Iterable[Any], width: int = 80) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=width, markup=False, highlight=False, emoji=False)
    for part in parts:
        console.print(part)
    return stream.getvalue()


def page(found: Any, width: int = 80) -> str:
    return text(show_page(screen_page(found), name="x.csv"), width)


def blocks(*results: Any, width: int = 80) -> str:
    return text(show_blocks(screen_blocks(*results)), width)


def row(shown: str, start: str) -> list[str]:
    return next(line.split() for line in shown.splitlines() if line.startswith(start))


def assess(**given: Any) -> Any:
    measures = given.pop("measures", ())
    keys = {} if "intruders" in given else {"keys": KEYS}
    with quiet():
        return sdc.assess(survey(), scenario=sdc.Scenario(**keys, **given), measures=measures)


# Pages.


def test_the_answer_comes_first() -> None:
    lines = page(assess()).splitlines()
    assert lines[:2] == ["", "x.csv"]
    assert lines[2].startswith("Disclosure risk of 400 records")
    assert lines[3].startswith("No limit was declared")
    assert "knows" in " ".join(lines[4:9])


@pytest.mark.parametrize(
    ("limits", "answer"),
    [
        ({"risk": 1.0}, "Within every declared limit"),
        ({"k": 2}, "Not within the declared limits: The only limit is exceeded."),
        ({"k": 2, "risk": 1.0}, "Not within the declared limits: 1 of 2 limits"),
    ],
)
def test_the_answer(limits: dict[str, float], answer: str) -> None:
    assert answer in " ".join(page(assess(thresholds=limits)).split())


def test_every_verdict_is_a_word_not_only_a_colour() -> None:
    block = Verdicts((("holds", "", "one"), ("exceeded", "", "two"), ("not judged", "", "three")))
    rows = [line.split() for line in text(show_blocks([block])).splitlines()]
    assert rows == [["holds", "one"], ["exceeded", "two"], ["not", "judged", "three"]]


def test_of_several_intruders_each_verdict_names_its_own() -> None:
    names = ("neighbour", "a colleague at work")
    block = Verdicts((("holds", names[0], "one"), ("exceeded", names[1], "two " * 30)))
    lines = text(show_blocks([block])).splitlines()
    assert lines[0].split() == ["holds", "neighbour:", "one"]
    assert lines[1].startswith("exceeded")
    assert names[1] in lines[1]
    assert max(map(len, lines)) <= 80


def test_everything_fits_the_width_and_no_value_is_shown() -> None:
    found = assess(
        intruders={"a neighbour": KEYS, "second": KEYS[:2]}, household="hh", sensitive=["ill"],
        thresholds={"k": 3, "risk": 0.05}, measures=["risky_cells", "outliers"],
    )  # fmt: skip
    for width in WIDTHS:
        shown = page(found, width)
        assert width - 8 < max(map(len, shown.splitlines())) <= width
        for part in (
            "Intruders side by side", "Intruder “second”", "with a risk above 0.05", "Household risk, mean",
            "recursive", "Households whose composition nobody shares", "the scenario names no numeric variable",
        ):  # fmt: skip
            assert part in shown
        assert MARKER not in shown


def test_persons_are_told_from_records() -> None:
    told = " ".join(page(assess(person="pid")).split())
    assert "person" in told.partition("The answer in full")[2].partition("Scenario")[0]
    recognised = told.partition("How many records share a key")[2]
    assert "persons" in recognised.partition("Which keys contribute")[0]
    assert "persons" not in " ".join(page(assess()).split()).partition("k-anonymity")[2].partition("Which")[0]


def test_steps_and_what_to_do_first() -> None:
    found = assess()["default"]["key_contributions"]
    shown = page(assess())
    for key, step in found.coarsenings.items():
        lines = [line for line in shown.splitlines() if line.startswith(f"{key} ")]
        figures = f"{step.levels_before} to {step.levels_after}"
        assert any(figures in line and f" {step.uniques_without:,} " in line for line in lines), key
    assert "What to do first" in shown
    assert found.suggestions
    for one in found.table[: len(KEYS)]:
        assert any(
            line.startswith(" and ".join(one.variables)) and f" {one.uniques_without:,} " in line
            for line in shown.splitlines()
        )


def test_both_readings_of_missing_values_side_by_side() -> None:
    gaps = survey().with_columns(k0=pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise("k0"))
    with quiet():
        found = sdc.assess(gaps, keys=KEYS)
    one = found["default"]
    shown = page(found)
    uniques = [one[place].sample_uniques for place in ("key_frequencies", "key_frequencies:category")]
    assert uniques[0] < uniques[1]
    words = " ".join(shown.split())
    assert all(f"{n:,}" in words for n in uniques)
    assert re.search(r"missing value", words)


def test_brackets_in_names_are_no_markup() -> None:
    odd = survey().rename({"k0": "[bold]x[/bold]"})
    with quiet():
        two = sdc.Scenario(intruders={"[red]": ["[bold]x[/bold]", "k1"], "other": ["k1", "k2"]})
        found = sdc.assess(odd, scenario=two)
    shown = page(found)
    assert "[bold]x[/bold]" in shown
    assert "“[red]”" in shown


# Blocks.

TABLE = TableBlock("Two", ("Name", "Records"), (("first", "1"), ("second", "23")), (1,))


def test_numbers_stand_to_the_right_under_a_caption_of_their_own() -> None:
    lines = [line.rstrip() for line in text(show_blocks([TABLE])).splitlines()]
    assert lines[:3] == ["", "Two", "Name    Records"]
    assert lines[4:] == ["first         1", "second       23"]


def test_what_shows_values_or_is_to_be_copied_is_for_paper() -> None:
    paper = TableBlock("Levels", ("Level",), ((MARKER,),), paper=True)
    others = [paper, Tables((TABLE,)), ChartBlock("bars", {}, MARKER), Code(MARKER, MARKER)]
    assert text(show_blocks(others)) == ""
    sections = (
        Section("On paper", (Paragraph(MARKER),), paper=True),
        Section("Empty", (paper,)),
        Section("Shown", (Paragraph("words"),)),
    )
    shown = text(show_page(Page("t", "s", None, "open", "h", sections, "f"), name="x.csv"))
    assert [line for line in shown.splitlines() if line] == ["x.csv", "s", "h", "Shown", "words"]


@pytest.mark.parametrize("width", WIDTHS)
def test_columns_give_way_between_words(width: int) -> None:
    heads = ("The step that was made", "Expected re-identifications", *[f"Values of number {i}" for i in range(3)])
    table = TableBlock("Wide", heads, (("2. local_suppression", *["1.87429e-05"] * 4),), tuple(range(1, 5)))
    lines = text(show_blocks([table]), width).splitlines()
    assert max(map(len, lines)) <= width
    words = {word for line in lines for word in line.split()}
    assert {"re-identifications", "local_suppression", "1.87429e-05"} <= words


def test_a_table_of_words_too_long_is_folded_and_loses_nothing() -> None:
    table = TableBlock("Long", ("a", "b"), (("x" * 70, "y" * 70),))
    shown = text(show_blocks([table]))
    assert max(map(len, shown.splitlines())) <= 80
    assert (shown.count("x"), shown.count("y")) == (70, 70)


def test_without_a_terminal_there_is_no_colour(capsys: pytest.CaptureFixture[str]) -> None:
    print_blocks([Verdicts((("exceeded", "", "[red]plain[/red]"),)), TABLE], head=["one", "two"])
    told = capsys.readouterr().out
    assert told.startswith("\none\ntwo\n")
    assert "[red]plain[/red]" in told
    assert "\x1b" not in told


def test_no_color_is_heeded(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told = {}
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("", "1"):
        monkeypatch.setenv("NO_COLOR", name)
        console = make_console()
        for part in show_blocks([Verdicts((("exceeded", "", "two"),))]):
            console.print(part)
        told[name] = capsys.readouterr().out
    assert "\x1b[1;31m" in told[""]  # bold, red
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", told["1"])
    assert "exceeded two" in told["1"].replace("\x1b[1m", "").replace("\x1b[0m", "")


# Single measures.


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    frame = survey()
    twice = pl.concat([frame, frame])
    with quiet():
        return {
            "population_risk": sdc.population_risk(frame, keys=KEYS, sampling_fraction=0.1),
            "population_uniques": sdc.population_uniques(frame, keys=KEYS, sampling_fraction=0.1),
            "risky_cells": sdc.risky_cells(frame, keys=KEYS),
            "outliers": sdc.outliers(frame, numeric=["x", "same"]),
            "k_map": sdc.k_map(frame, twice, keys=KEYS),
            "k_map_modelled": sdc.k_map(frame, keys=KEYS, sampling_fraction=0.1),
            "delta_presence": sdc.delta_presence(frame, twice, keys=KEYS, limits=(0.5, 0.6)),
            "suda": sdc.suda(frame, keys=KEYS),
        }


def test_every_figure_fits_and_no_value_is_shown(results: dict[str, Any]) -> None:
    for name, result in results.items():
        for width in WIDTHS:
            shown = blocks(result, width=width)
            assert max(map(len, shown.splitlines())) <= width, name
            assert MARKER not in shown, name


def test_the_figures_are_exact(results: dict[str, Any]) -> None:
    for name, figures in {
        "suda": [results["suda"].pairs, *results["suda"].msu_counts.values()],
        "risky_cells": [results["risky_cells"].records_affected],
        "outliers": [results["outliers"].n_outliers],
    }.items():
        shown = blocks(results[name])
        assert all(f"{figure:,}" in shown for figure in figures), name
    zayatz = results["population_uniques"].zayatz
    assert float(row(blocks(results["population_uniques"]), "Zayatz")[1].replace(",", "")) == pytest.approx(
        zayatz, rel=1e-3
    )
    risk = results["population_risk"]
    line = next(one for one in blocks(risk).splitlines() if "z1, z2" in one)
    assert [float(one.rstrip(",")) for one in line.split()[-2:]] == pytest.approx([risk.z1, risk.z2], rel=1e-3)


def test_undefined_figures_are_told(results: dict[str, Any]) -> None:
    assert row(blocks(results["outliers"]), "same")[1] == "0"  # of a constant nothing can be an outlier
    with quiet():
        alone = sdc.suda(survey(), keys=["one"])
        joint = sdc.outliers(survey(), numeric=["x", "same"], method="robust_mahalanobis")
    assert re.search("–|undefined", blocks(alone))
    assert "undefined" in blocks(joint)


def test_a_joint_distance_has_no_counts_by_variable() -> None:
    frame = survey().with_columns(y=pl.int_range(pl.len()) % 17)
    shown = blocks(sdc.outliers(frame, numeric=["x", "y"], method="robust_mahalanobis", seed=1))
    assert "Extreme values" not in shown
    assert "–" not in shown
    assert "undefined" not in shown


def test_expected_records_are_told_from_counted_ones(results: dict[str, Any]) -> None:
    counted, expected = blocks(results["k_map"]), blocks(results["k_map_modelled"])
    assert row(counted, "Largest k that holds")[-1] == "2"
    assert "Records expected" in expected
    assert "Largest k" not in expected
    assert "Every share from 0.5 to 0.6 holds" in " ".join(blocks(results["delta_presence"]).split())


def test_a_note_is_told_once() -> None:
    with quiet():
        one = sdc.population_uniques(survey().head(1), keys=["k0"], sampling_fraction=0.1)
    notes = [line for line in blocks(one).splitlines() if line.startswith("No two records share a key")]
    assert len(notes) == 1


def test_notes_are_told(results: dict[str, Any]) -> None:
    assert "may miss by a factor of 2 to 6" in blocks(results["population_uniques"])


def test_a_command_names_its_file(results: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    print_measure("survey.csv", results["risky_cells"])
    told = capsys.readouterr().out
    assert told.startswith("\nsurvey.csv: 400 records\n")
    assert "no key value is missing" in told
    print_measure("survey.csv", results["outliers"])
    assert "survey.csv: 400 records" in capsys.readouterr().out


def test_pairs_of_words_are_folded(capsys: pytest.CaptureFixture[str]) -> None:
    print_blocks([Facts((("Columns", "word " * 40),))])
    told = capsys.readouterr().out
    assert told.count("word") == 40
    assert max(map(len, told.splitlines())) <= 80


def test_names_of_steps_stay_whole_and_heads_of_numbers_give_way() -> None:
    heads = (
        "After",
        "Records alone with their combination",
        "Expected re-identifications",
        "Values that differ",
        "pMSE",
    )
    rows = tuple((f"3. {name} (the release), neighbour", "1,208", "0.925302", "8.0 %", "0.000248087")
                 for name in ("local_suppression", "replace_high_risk", "a_step_with_a_very_long_name"))  # fmt: skip
    for width in (70, 80):
        shown = text(show_blocks([TableBlock("After each step", heads, rows, (1, 2, 3, 4))]), width)
        assert max(map(len, shown.splitlines())) <= width
        for name in (
            "local_suppression",
            "replace_high_risk",
            "a_step_with_a_very_long_name",
            "neighbour",
            "0.000248087",
        ):
            assert name in shown
