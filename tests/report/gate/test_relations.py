from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.special import hyp2f1

import sdckit as sdc
from sdckit.report.formats.write import plain_document
from sdckit.report.gate.figures import Document, Histogram, Ledger, Levels, Ranked, SizeClasses
from sdckit.report.gate.protect import protect
from sdckit.report.gate.relations import SIZE_CLASSES, expand, largest_size, make_sizes, risk_of_size


@given(st.integers(1, 40), st.floats(0.01, 0.99))
def test_the_risk_of_a_size_is_the_mean_of_one_over_f(size: int, fraction: float) -> None:
    expected = fraction / size * hyp2f1(1, 1, size + 1, 1 - fraction)
    assert risk_of_size(size, fraction) == pytest.approx(float(expected), rel=1e-6)


@pytest.mark.parametrize("method", ["exact", "approx", "worst_case"])
def test_risk_falls_as_cells_grow(method: str) -> None:
    risks = [risk_of_size(size, 0.1, method) for size in range(1, 60)]
    assert risks == sorted(risks, reverse=True)
    assert all(0 < risk <= 1 for risk in risks)


@given(st.floats(0.001, 1), st.sampled_from([0.05, 0.5, 1.0]), st.booleans())
def test_the_largest_size_is_where_risk_passes_the_edge(risk: float, fraction: float, strictly: bool) -> None:
    size = largest_size(risk, fraction, "exact", strictly=strictly)

    def reaches(one: float) -> bool:
        found = risk_of_size(one, fraction)
        return found > risk if strictly else found >= risk

    assert size == 0 or reaches(size)
    assert not reaches(size + 1)


def test_no_risk_is_reached_by_all() -> None:
    assert largest_size(0.0, 0.1, "exact") == math.inf


def test_sizes_cover_every_size_once() -> None:
    sizes = make_sizes(Ledger(), "i0", [5, 9, 10, 200, math.inf])
    ends = [0.0] + [part[1] for part in sizes.parts]
    assert [part[0] for part in sizes.parts] == [end + 1 for end in ends[:-1]]
    assert sizes.parts[-1][1] == math.inf
    for low, high in SIZE_CLASSES.values():
        inside = sizes.within(low, high)
        assert inside[0][0] == low
        assert inside[-1][1] == high


def _rows(leaf: Levels | SizeClasses | Histogram, *, internal: bool = False) -> tuple[list[dict], Ledger]:
    ledger = Ledger()
    rows = expand(leaf, ledger, internal=internal)
    return list(rows.rows if isinstance(rows, Ranked) else rows), ledger


def test_rare_levels_and_the_tail_are_pooled_without_their_number() -> None:
    counts = (("a", 60), ("b", 30), ("c", 5), ("d", 4), ("secret", 1))
    rows, ledger = _rows(Levels("k", counts, "n", 100, "k.missing", 0))
    assert [row["level"] for row in rows] == ["a", "b", "c", "other"]
    assert ledger.variables["k: other"].true == 5
    rows, _ = _rows(Levels("k", counts, "n", 100, "k.missing", 0, shown=2))
    assert [row["level"] for row in rows] == ["a", "b", "other"]


@pytest.mark.parametrize("counts", [(52, 50, 48), (48, 52, 50), (50, 51, 52)])
def test_levels_are_ordered_by_what_is_printed(counts: tuple[int, int, int]) -> None:
    ledger = Ledger()
    levels = Levels("k", tuple(zip("abc", counts, strict=True)), "n", 150)
    tree = {"n": ledger.count("n", 150, "n"), "levels": levels}
    plain = protect(Document(tree, ledger.variables, tuple(ledger.relations), 150))
    assert [row["level"] for row in plain["levels"]] == ["a", "b", "c"]


def test_a_level_that_is_shown_has_five_records_and_the_rest_some() -> None:
    _, ledger = _rows(Levels("k", (("a", 60), ("b", 5), ("c", 4)), "n", 69))
    assert ledger.variables["k.b"].stated == (5, float("inf"))
    assert ledger.variables["k: other"].stated == (1, float("inf"))


def test_a_confidential_document_shows_every_level() -> None:
    rows, _ = _rows(Levels("k", (("a", 98), ("secret", 2)), "n", 100), internal=True)
    assert [row["level"] for row in rows] == ["a", "secret"]


def test_sizes_two_to_four_are_pooled() -> None:
    counts = (("1", 3), ("2", 1), ("3", 2), ("4", 0), ("5-9", 7))
    rows, ledger = _rows(SizeClasses("c", counts))
    assert [row["size"] for row in rows][:3] == ["1", "2-4", "5-9"]
    assert ledger.variables["c.2-4"].true == 3
    exact, _ = _rows(SizeClasses("c", counts), internal=True)
    assert [row["size"] for row in exact][:4] == ["1", "2", "3", "4"]


def test_sizes_of_households_keep_their_order() -> None:
    rows, _ = _rows(Levels("h", (("1", 10), ("2", 40), ("11", 1)), "h", 51, records="n"))
    assert [row["level"] for row in rows] == ["1", "2", "other"]


def test_bins_are_the_same_for_every_file() -> None:
    for counts in ((90, 7, 3), (0, 0, 100), (1, 1, 98)):
        rows, ledger = _rows(Histogram("r", (0.0, 0.1, 0.5, 1.0), counts, "n"))
        assert [(row["from"], row["to"]) for row in rows] == [(0.0, 0.1), (0.1, 0.5), (0.5, 1.0)]
        assert [ledger.variables[row["n"].name].true for row in rows] == list(counts)


@pytest.mark.parametrize(("size", "cells"), [(49, 5), (501, 3), (1000, 2), (750, 2)])
def test_a_file_whose_cells_are_all_of_one_size_has_a_document(size: int, cells: int) -> None:
    """1 / 1000 times 1000, as a risk is worked out, was less than 1: the cells contradicted the sum of their risks."""
    file = pl.DataFrame({"area": np.repeat(np.arange(cells), size), "ill": np.resize(["y", "n"], size * cells)})
    scenario = sdc.Scenario(keys=["area"], sensitive=["ill"], thresholds={"k": 3})
    risk = plain_document(sdc.assess(file, scenario=scenario))["intruders"][0]["individual_risk"]
    assert risk["expected_reidentifications"]["text"] == ("<5" if cells < 5 else "5")
