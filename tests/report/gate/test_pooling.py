from __future__ import annotations

from itertools import accumulate

from hypothesis import given, strategies as st

from sdckit.report.gate.figures import Histogram, Ledger, Levels, SizeClasses
from sdckit.report.gate.pooling import expand, merge_bins


@given(st.lists(st.integers(0, 12), min_size=1, max_size=12))
def test_no_bin_holds_one_to_four(counts: list[int]) -> None:
    edges = tuple(range(len(counts) + 1))
    merged_edges, merged = merge_bins(edges, counts)
    assert sum(merged) == sum(counts)
    assert (merged_edges[0], merged_edges[-1]) == (edges[0], edges[-1])
    assert set(merged_edges) <= set(edges)
    if sum(counts) >= 5:
        assert all(n == 0 or n >= 5 for n in merged)
    total = dict(zip(edges[1:], accumulate(counts), strict=True))
    found = dict(zip(merged_edges[1:], accumulate(merged), strict=True))
    assert all(total[edge] == n for edge, n in found.items())


def test_bins_of_enough_records_stay() -> None:
    assert merge_bins((0, 1, 2, 3), (5, 0, 9)) == ((0, 1, 2, 3), (5, 0, 9))


def _rows(leaf: Levels | SizeClasses | Histogram, *, internal: bool = False) -> tuple[list[dict], Ledger]:
    ledger = Ledger()
    return list(expand(leaf, ledger, internal=internal)), ledger


def test_rare_levels_and_the_tail_are_pooled_without_their_number() -> None:
    counts = (("a", 60), ("b", 30), ("c", 5), ("d", 4), ("secret", 1))
    rows, ledger = _rows(Levels("k", counts, "n", 100, "k.missing", 0))
    assert [row["level"] for row in rows] == ["a", "b", "c", "other"]
    assert ledger.variables["k: other"].true == 5
    rows, _ = _rows(Levels("k", counts, "n", 100, "k.missing", 0, shown=2))
    assert [row["level"] for row in rows] == ["a", "b", "other"]


def test_levels_are_ordered_by_what_is_printed() -> None:
    rows, _ = _rows(Levels("k", (("b", 52), ("a", 50), ("c", 48)), "n", 150))
    assert [row["level"] for row in rows] == ["a", "b", "c"]


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


def test_the_top_bin_holds_five_records() -> None:
    rows, _ = _rows(Histogram("r", (0.0, 0.1, 0.5, 1.0), (90, 7, 3), "n"))
    assert [(row["from"], row["to"]) for row in rows] == [(0.0, 0.1), (0.1, 1.0)]
