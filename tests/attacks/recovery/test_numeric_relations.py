"""Arithmetic is found though records are exceptions, with factors as somebody would write them, and nothing else is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sdckit.attacks.recovery import numeric_relations
from sdckit.attacks.recovery.derived_columns import Predictor
from sdckit.attacks.recovery.numeric_relations import find_relations, printed_step, printed_unit, tolerance

Floats = NDArray[np.float64]
Columns = dict[str, Floats]
RNG = np.random.default_rng(7)


def companion(name: str, numbers: Floats) -> Predictor:
    return Predictor((name,), name, np.zeros(0, np.int32), 0, numbers)


def whole(low: int, high: int, n: int = 1_000) -> Floats:
    return RNG.integers(low, high, n).astype(np.float64)


def total() -> tuple[Floats, Columns]:
    wage, rest = whole(500, 4_000), whole(0, 900)
    return wage, {"total": wage + rest, "rest": rest}


def three() -> tuple[Floats, Columns]:
    wage, rest, rent = whole(500, 4_000), whole(0, 900), whole(0, 400)
    return wage, {"total": 12 * wage + rest + rent, "rest": rest, "rent": rent}


def of_one(make: Callable[[Floats], Floats], low: int = 500, high: int = 4_000) -> tuple[Floats, Columns]:
    wage = whole(low, high)
    return wage, {"x": make(wage)}


def ratio() -> tuple[Floats, Columns]:
    wage, hours = whole(500, 4_000), whole(10, 60)
    return wage, {"x": wage / hours, "hours": hours}


def of_three_logs() -> tuple[Floats, Columns]:
    a, b, c = whole(500, 4_000), whole(10, 60), whole(2, 9)
    return a, {"x": a * b / c, "b": b, "c": c}


def mostly_nothing() -> tuple[Floats, Columns]:
    gain, rest = np.where(RNG.random(1_000) < 0.9, 0.0, whole(1, 9_000)), whole(0, 900)
    return gain, {"total": gain + rest, "rest": rest}


FAMILIES = {
    "total - rest": total,
    "total / 12 - rest / 12 - rent / 12": three,
    "12 * x": lambda: of_one(lambda y: np.round(y / 12, 3)),
    "x / 52": lambda: of_one(lambda y: 52 * y),
    "exp(x)": lambda: of_one(lambda y: np.round(np.log(y), 5)),
    "10 ** x": lambda: of_one(np.log10),
    "-x + 2024": lambda: of_one(lambda y: 2024 - y, 0, 95),
    "x * hours": ratio,
    "exp(log(x) + log(c) - log(b))": of_three_logs,
    "365.25 * x": lambda: of_one(lambda y: y / 365.25),
    "9 * x / 5 + 32": lambda: of_one(lambda y: (y - 32) / 1.8, 0, 90),
}


@pytest.mark.parametrize("formula", FAMILIES)
@pytest.mark.parametrize("exceptions", [0, 50])
def test_a_relation_is_found_beside_columns_that_have_none(formula: str, exceptions: int) -> None:
    y, columns = FAMILIES[formula]()
    columns |= {f"other{i}": whole(0, 5 + 40 * i) for i in range(12)}
    columns[next(iter(columns))][RNG.permutation(len(y))[:exceptions]] += whole(3, 99, exceptions)
    companions = [companion(name, numbers) for name, numbers in columns.items()]
    relations, tried = find_relations(y, companions, rows=np.arange(0, len(y), 2))
    assert [relation.formula for relation in relations] == [formula]
    assert tried >= 13
    hits = np.abs(relations[0].values([one.numbers for one in companions]) - y) <= tolerance(y)
    assert np.count_nonzero(~hits) <= exceptions


def test_a_column_that_is_nearly_always_nothing_is_no_reason_to_take_a_constant() -> None:
    y, columns = mostly_nothing()
    relations, _ = find_relations(y, [companion(name, numbers) for name, numbers in columns.items()])
    assert [relation.formula for relation in relations] == ["total - rest"]


def test_one_value_is_no_relation() -> None:
    """Where all records with children live in one kind of house, 1/365.25 * children + 1 rounds to its number."""
    children = np.where(np.arange(400) < 40, np.nan, np.arange(400) % 7.0)
    kind = np.where(np.isnan(children), np.arange(400) % 3 + 1.0, 1.0)
    assert find_relations(kind, [companion("children", children)])[0] == []


def test_printed_units_set_a_relation_off_by_its_slack() -> None:
    wage = whole(500, 4_000)
    (relation,), _ = find_relations(wage, [companion("annual", np.round(12 * wage, -2))])
    off = np.abs(relation.values([np.round(12 * wage, -2)]) - wage)
    assert relation.hits < 0.3
    assert 100 / 24 <= relation.slack < 100 / 24 + 1
    assert (off <= relation.slack).mean() > 0.95


@pytest.mark.parametrize("seed", range(6))
def test_a_statistical_relation_is_no_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=1_000)
    y = np.round(1_000 * z)
    companions = [companion("x", np.round(950 * z + 310 * rng.normal(size=1_000))), companion("u", rng.random(1_000))]
    assert find_relations(y, companions, seed=seed)[0] == []


def test_too_few_records_tell_nothing() -> None:
    y = np.arange(20.0)
    assert find_relations(y, [companion("x", 2 * y)]) == ([], 0)


def test_units_are_read_from_what_is_printed() -> None:
    assert printed_unit(np.array([math.nan])) == 1.0
    assert printed_unit(np.array([1 / 3])) == 0.0
    assert tolerance(np.array([1 / 3, 1e6])) == pytest.approx(1e-3)
    assert printed_step(np.array([2_500.0, 5_000.0, 7_500.0])) == 2_500.0
    assert printed_step(np.where(np.arange(1_000) < 50, np.arange(1_000.0), 0.0)) == 1.0  # 0 is a multiple of all


def test_codes_of_categories_follow_exactly_or_not_at_all() -> None:
    """Half a unit is far in a few codes: sums of others are near all of them, and say nothing."""
    rng = np.random.default_rng(3)
    roof, walls, electricity = (rng.integers(1, 4, 1_000) * 1.0 for _ in range(3))
    region = np.where(rng.random(1_000) < 0.6, np.round((roof + walls) / 2), rng.integers(1, 4, 1_000))
    companions = [companion("roof", roof), companion("walls", walls), companion("electricity", electricity)]
    assert not find_relations(region, companions)[0]
    rooms = np.where(rng.random(1_000) < 0.95, roof + walls - electricity + 3, 1.0)
    assert {relation.formula for relation in find_relations(rooms, companions)[0]} == {"roof + walls - electricity + 3"}


def test_what_is_remembered_belongs_to_its_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: dict[bytes, tuple[tuple[int, ...]]] = {}
    monkeypatch.setattr(numeric_relations, "_OUTCOMES", kept)
    monkeypatch.setattr(numeric_relations, "REMEMBERED", 3)
    rng = np.random.default_rng(7)
    terms, draws = rng.random((3, 100)), rng.random((6, 4))
    sets = np.array([[0], [1], [2]])
    for _ in range(2):
        for place in range(3):  # what is asked for again is found again, and nothing else
            assert numeric_relations._promising(terms[place], terms, sets, draws, 0.02) == (place,)
    assert len(kept) == 3
    assert numeric_relations._promising(terms[0], terms, sets[1:], draws, 0.02) == ()
    assert len(kept) == 1


@pytest.mark.parametrize("share", [0.0, 0.2, 0.31, 0.5, 0.97])
def test_a_usual_value_is_the_one_that_counting_shows_and_is_no_more_than_its_share(share: float) -> None:
    rng = np.random.default_rng(int(100 * share))
    for n in (1, 7, 60, 500, 40_000):
        y = np.where(rng.random(n) < share, 4.0, rng.integers(0, 90, n) * 1.0)
        values, counts = np.unique(y, return_counts=True)
        many = counts.max() > numeric_relations.USUAL * n and n - counts.max() >= 30
        usual = numeric_relations._usual(y)
        assert usual == values[counts.argmax()] if many else math.isnan(usual)
        rows = rng.permutation(n)
        often = [row for row in rows if y[row] == usual]
        others = [row for row in rows if y[row] != usual]
        expected = others[:50] + often[: max(int(0.3 / 0.7 * len(others[:50])), 1)] if many else rows[:50].tolist()
        assert numeric_relations._varied(y, rows, 50, usual).tolist() == expected


@pytest.mark.parametrize("near", [1.0, 1e-2, 1e-6, 0.0])
def test_factors_of_many_terms_are_those_of_least_squares(near: float) -> None:
    """Also of terms that hardly differ (`near`), or not at all, of which products do not tell the factors."""
    rng = np.random.default_rng(3)
    design = np.column_stack([np.ones(800), rng.normal(size=(800, 12))])
    design[:, 5] = design[:, 4] + near * design[:, 5]
    y = design @ np.linspace(-2, 2, 13) + rng.normal(scale=0.1, size=800)
    expected = np.linalg.lstsq(design, y, rcond=None)[0]
    assert numeric_relations._solved(design, y) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def standardised_alone(values: Any) -> Any:
    """A row less its median, over its usual spread, without what is far beyond it: each step on its own."""
    known = np.sort(values[~np.isnan(values)])
    if not len(known):
        return values
    low, centre, high = (known[int(share * (len(known) - 1))] for share in (0.1, 0.5, 0.9))
    with np.errstate(invalid="ignore", over="ignore"):
        spread = high - low or max(centre - known[0], known[-1] - centre) or 1.0
        standard = (values - centre) / spread
    return np.where(np.abs(standard) < numeric_relations.FAR, standard, np.nan)


def test_rows_are_standardised_as_each_alone():
    rng = np.random.default_rng(3)
    for _ in range(40):
        m = int(rng.integers(1, 200))
        kinds = [rng.normal(size=m) * 1e6, rng.integers(0, 3, m) * 1.0, np.zeros(m), np.exp(rng.normal(size=m) * 20)]
        rows = np.array([np.where(rng.random(m) < rng.random() * 1.2, np.nan, kinds[i % 4]) for i in range(12)])
        alone = np.array([standardised_alone(row) for row in rows])
        assert np.array_equal(numeric_relations._standard(rows)[0], alone, equal_nan=True)


@pytest.mark.filterwarnings("error")
def test_rows_of_huge_numbers_are_standardised_without_a_warning():
    row = np.array([-1.7e308, -1.6e308, 0.0, 1.6e308, 1.7e308] * 4)
    alone = standardised_alone(row)
    assert np.array_equal(numeric_relations._standard(row[None])[0][0], alone, equal_nan=True)
