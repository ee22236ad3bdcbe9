"""The tables: what stands in them, in 80 columns, whatever part of an assessment there is."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from sdckit.cli.tables import assessment_tables, count, number, percent, verdict_table


def frequencies(uniques: int = 12) -> SimpleNamespace:
    bands = ("1", "2", "3", "4", "5-9", "10-24", "25-49", "50-99", "100+")
    return SimpleNamespace(
        n_cells=345,
        sample_uniques=uniques,
        frequency_of_frequencies=dict(zip(bands, range(10_000, 100_000, 10_000), strict=True)),
    )


def risk(**more: Any) -> SimpleNamespace:
    plain = {
        "global_risk": 0.0123,
        "expected_reidentifications": 12.3,
        "max_risk": 0.25,
        "threshold": None,
        "n_above": None,
        "household_risk": None,
        "expected_household_reidentifications": None,
    }
    return SimpleNamespace(**(plain | more))


def anonymity(violations: dict[int, int] | None = None) -> SimpleNamespace:
    return SimpleNamespace(level=1, violations=violations or {2: 12, 3: 40, 5: 90})


def intruder(**more: Any) -> SimpleNamespace:
    fact = SimpleNamespace(
        name="a_rather_long_variable_name", kind="integer", n_levels=1234, n_missing=10, rule="wildcard"
    )
    plain = {
        "name": "default",
        "keys": ("age", "sex"),
        "key_facts": (fact,),
        "frequencies": frequencies(),
        "k_anonymity": anonymity(),
        "individual_risk": risk(),
        "frequencies_category": None,
        "k_anonymity_category": None,
        "individual_risk_category": None,
        "household_structure": None,
        "l_diversity": None,
        "key_contributions": None,
        "skipped": (),
        "results": lambda: iter(()),
    }
    return SimpleNamespace(**(plain | more))


def verdict(holds: bool | None, sentence: str = "a sentence", intruder: str = "default") -> SimpleNamespace:
    word = {True: "holds", False: "exceeded", None: "not judged"}[holds]
    return SimpleNamespace(holds=holds, sentence=sentence, intruder=intruder, word=word)


def drawn(
    *intruders: SimpleNamespace,
    verdicts: tuple[Any, ...] = (),
    title: str = "",
    width: int = 80,
    person: str | None = None,
) -> str:
    assessment: Any = SimpleNamespace(
        n=1000,
        scenario=SimpleNamespace(title=title, person=person),
        verdicts=verdicts,
        intruders=intruders or (intruder(),),
    )
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False).print(
        assessment_tables(assessment, name="x.csv")
    )
    return stream.getvalue()


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (6366, "6,366"), (2.0, "2"), (1234.56, "1,234.6")])
def test_counts(value: float, text: str) -> None:
    assert count(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 5, "0 %"),
        (1, 0, "0 %"),
        (5, 5, "100 %"),
        (1, 3, "33 %"),
        (1, 15, "6.7 %"),
        (1, 100, "1.0 %"),
        (996, 10_000, "10 %"),
        (9999, 10_000, ">99 %"),
        (1, 2000, "0.050 %"),
    ],
)
def test_shares(part: float, whole: float, text: str) -> None:
    assert percent(part, whole) == text


def test_an_undefined_figure_is_a_dash() -> None:
    assert [number(value) for value in (None, float("nan"), 0.5)] == ["–", "–", "0.5"]


def test_the_answer_comes_first() -> None:
    lines = [line.rstrip() for line in drawn(title="A survey").split("\n")]
    assert lines[1] == "x.csv: 1,000 records – A survey"
    assert lines[2].startswith("No threshold is declared")
    assert lines[3].startswith("• Intruder 'default' knows 2 variables: 12 records (1.2 %)")


@pytest.mark.parametrize(
    ("verdicts", "answer"),
    [
        ((True, True), "Within every declared threshold."),
        ((True, False), "NOT within the thresholds: of 2, 1 exceeded."),
        ((None, False), "NOT within the thresholds: of 2, 1 exceeded and 1 not judged."),
        ((None,), "NOT within the thresholds: of 1, 1 not judged."),
    ],
)
def test_the_answer(verdicts: tuple[bool | None, ...], answer: str) -> None:
    assert answer in drawn(verdicts=tuple(verdict(holds) for holds in verdicts))


def test_every_verdict_is_a_word_not_only_a_colour() -> None:
    stream = io.StringIO()
    table = verdict_table([verdict(True, "one"), verdict(False, "two"), verdict(None, "three")])
    Console(file=stream, width=80).print(table)
    rows = [line.split() for line in stream.getvalue().splitlines() if line.strip()]
    assert rows[-3:] == [["holds", "one"], ["exceeded", "two"], ["not", "judged", "three"]]


def test_of_several_intruders_each_verdict_names_its_own() -> None:
    stream = io.StringIO()
    table = verdict_table(
        [verdict(True, "one", "neighbour"), verdict(False, "two " * 30, "a colleague at work")]
    )
    Console(file=stream, width=80).print(table)
    lines = stream.getvalue().splitlines()
    assert any(line.split() == ["holds", "neighbour", "one"] for line in lines)
    assert any(line.startswith("exceeded") and "a colleague at work" in line for line in lines)
    assert max(map(len, lines)) <= 80


def test_persons_are_told_from_records() -> None:
    text = drawn(person="id")
    assert "records of persons alone in the file" in text
    assert "in groups of fewer than 3 persons" in text
    assert "Key combinations by number of records" in text
    assert "with no other person" in " ".join(text.split())
    assert "persons" not in drawn()


def contribution(*names: str, without: int) -> SimpleNamespace:
    return SimpleNamespace(
        variables=names, uniques_without=without, uniques_saved=4000 - without, risk_without=0.01,
        violations_without={2: without, 3: without, 5: without},
    )  # fmt: skip


def contributions(table: tuple[Any, ...], uniques: int = 4000, **more: Any) -> SimpleNamespace:
    found = {
        "coarsenings": {},
        "suggestions": (),
        "violations": {2: uniques, 3: 4500, 5: 5000},
        "risk": 0.0123,
    }
    return SimpleNamespace(table=table, uniques=uniques, **found | more)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        (
            (
                contribution("sex", without=3900),
                contribution("age", without=1855),
                contribution("sex", "age", without=0),
            ),
            "Recoding age would save most: without it, 1,855 of 4,000 uniques are left.",
        ),
        ((contribution("sex", without=4000),), "Recoding a single key would make no record less unique."),
    ],
)
def test_the_key_to_recode_stands_below_the_figures(rows: tuple[Any, ...], line: str) -> None:
    made = intruder(key_contributions=contributions(rows))
    assert line in drawn(made).splitlines()


def test_steps_and_what_to_do_first() -> None:
    steps = {
        key: SimpleNamespace(
            levels_before=80, levels_after=40, uniques_without=left, uniques_saved=4000 - left, risk_without=0.01,
            violations_without={2: left, 3: 4100, 5: 4700},
        )
        for key, left in (("sex", 3900), ("age", 1000))
    }  # fmt: skip
    advice = tuple(SimpleNamespace(sentence=f"coarsen key {i}") for i in range(5))
    made = contributions((contribution("age", without=1),), coarsenings=steps, suggestions=advice)
    lines = drawn(intruder(key_contributions=made)).splitlines()
    place = next(i for i, line in enumerate(lines) if line.startswith("age") and "80 to 40" in line)
    assert lines[place].split()[-7:] == ["1,000", "3,000", "(75", "%)", "4,100", "4,700", "0.01"]
    assert lines[place + 1].startswith("sex")
    assert [line for line in lines if "coarsen key" in line] == [
        f"{i + 1}. coarsen key {i}" for i in range(3)
    ]
    nobody = drawn(
        intruder(
            key_contributions=contributions((contribution("age", without=0),), uniques=0, suggestions=advice)
        )
    )
    assert "coarsen key" not in nobody


def test_both_readings_of_missing_values_side_by_side() -> None:
    both = intruder(
        frequencies_category=frequencies(uniques=77),
        k_anonymity_category=anonymity({2: 77, 3: 99}),
        individual_risk_category=risk(global_risk=0.5),
    )
    text = drawn(both)
    assert "missing matches any" in text
    row = next(line for line in text.splitlines() if "alone in the file" in line)
    assert "12 (1.2 %)" in row
    assert "77 (7.7 %)" in row
    assert "–" in next(line for line in text.splitlines() if "fewer than 5" in line)


def everything() -> SimpleNamespace:
    rows = tuple(contribution(f"key_{i}", "another_key", without=i) for i in range(12))
    kinds = ("distinct", "entropy", "recursive")
    return intruder(
        individual_risk=risk(
            threshold=0.05, n_above=7, household_risk=0.02, expected_household_reidentifications=20.5
        ),
        key_contributions=contributions(rows),
        household_structure=SimpleNamespace(
            n_households=300, unique_sizes=1, rare_sizes=2, unique_compositions=250, notes={}
        ),
        l_diversity=SimpleNamespace(
            variables=("income", "health"),
            level={name: dict.fromkeys(kinds, 1.0) for name in ("income", "health")},
            violations={name: {kind: {2: 12, 3: 800} for kind in kinds} for name in ("income", "health")},
        ),
        skipped=(("outliers", "no numeric variable is declared"),),
    )


def test_everything_fits_80_columns() -> None:
    lines = drawn(everything(), intruder(name="second"), verdicts=(verdict(False, "long words " * 20),))
    assert max(len(line) for line in lines.splitlines()) <= 80
    for part in (
        "Intruders side by side",
        "Intruder 'second'",
        "above a risk of 0.05",
        "household risk (mean)",
        "the first 8 of 12",
        "compositions that only one household has",
        "recursive",
        "Not computed: outliers – no numeric variable is declared",
    ):
        assert part in lines


def test_brackets_in_names_are_no_markup() -> None:
    odd = intruder(name="[red]", key_facts=(SimpleNamespace(
        name="[bold]x[/bold]", kind="text", n_levels=2, n_missing=0, rule="wildcard"),
    ))  # fmt: skip
    text = drawn(odd, intruder())
    assert "[bold]x[/bold]" in text
    assert "'[red]'" in text
