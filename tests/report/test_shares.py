"""Measures of two files as typed figures."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from sdckit.data.limits import LIMITS
from sdckit.report.chapters.release_page import intruder_tree
from sdckit.report.gate.figures import Count, Ledger, Ratio, Share
from sdckit.report.setting import PairSetting, release_sizes
from sdckit.report.shares import (
    ShareView,
    by_release,
    columns_given_back,
    over,
    put_back_tables,
    release_heads,
    shares_table,
    shown_share,
)
from sdckit.report.view import view_of

SHARES = (
    "matching_risk", "identity_disclosure", "record_linkage", "interval_risk", "replicated_uniques",
    "robust_interval_risk", "correct_attribution_probability", "attribute_disclosure", "prediction_risk",
)  # fmt: skip


def ledger():
    found = Ledger()
    found.count("n", 200, "n")
    release_sizes(found, [100])
    return found


def tree_of(place, result, book):
    return view_of(place.partition(":")[0]).tree(result, PairSetting(book, "c0", place, [100]))


def identity(**figures):
    given = {"unique_in_original": 0.1, "unique_in_original_in_released": 0.05, "replicated_uniques": 0.02}
    return SimpleNamespace(per_release=({**given, "unique_in_released": 0.3, **figures},), notes={"x": "a note"})


def test_shares_become_counts_that_contain_each_other():
    book = ledger()
    tree = tree_of("identity_disclosure", identity(), book)
    (leaves,) = tree["releases"]
    start = "c0.identity_disclosure.1."
    assert leaves["replicated_uniques"] == Share(f"{start}replicated_uniques", "n")
    assert leaves["unique_in_released"] == Share(f"{start}unique_in_released", "n.released.1")
    true = {name: book.variables[start + name].true for name in leaves}
    assert true == {
        "unique_in_original": 20, "unique_in_original_in_released": 10, "replicated_uniques": 4,
        "unique_in_released": 30,
    }  # fmt: skip
    assert f"{start}unique_in_original_in_released - {start}replicated_uniques" in book.variables


def test_expected_numbers_are_sums():
    book = ledger()
    result = SimpleNamespace(
        per_release=({"mean_match_risk": 0.25, "unique_matches": 7.0, "true_match_rate": 0.01},), notes={}
    )
    (leaves,) = tree_of("matching_risk", result, book)["releases"]
    assert leaves["mean_match_risk"] == Ratio("c0.matching_risk.1.mean_match_risk", "n")
    assert book.variables["c0.matching_risk.1.mean_match_risk"].true == 50.0
    assert leaves["unique_matches"] == Count("c0.matching_risk.1.unique_matches")


def test_undefined_figures_and_their_notes_are_left_out():
    result = SimpleNamespace(
        per_release=({"accuracy_released": math.nan, "baseline": 3.0, "share_less_accurate": 0.5},),
        notes={"accuracy_released": "for categories only", "other": "kept"},
        numeric=True,
        loss="absolute",
        target="x",
        baseline=3.0,
        mean_loss_released=math.nan,
        mean_loss_original=math.nan,
        columns={"error_released": np.array([1.0]), "error_original": np.array([1.0])},
        sides=lambda: (np.array([1.0]), np.array([1.0])),
        before_after=lambda: pl.DataFrame(
            {"low": [0.0, 1.0], "high": [1.0, math.inf], "original": [150, 50], "released": [100, 100]}
        ),
    )
    tree = tree_of("prediction_risk:x", result, ledger())
    assert list(tree["releases"][0]) == ["share_less_accurate"]
    assert list(tree["notes"]) == ["other"]
    assert [(row["from"], row["to"]) for row in tree["distribution"]] == [(0.0, 1.0), (1.0, None)]


def test_distributions_add_up():
    book = ledger()
    result = SimpleNamespace(
        per_release=({"average": 0.5},),
        notes={},
        target=("x",),
        sides=lambda: (np.array([1.0]), np.array([1.0])),
        cap_histogram=lambda edges: ([1, 2, 3, 4, 190], [10, 20, 30, 40, 100]),
    )
    tree = tree_of("correct_attribution_probability:x", result, book)
    assert [(row["from"], row["to"]) for row in tree["distribution"]] == [
        (0, 0.2),
        (0.2, 0.4),
        (0.4, 0.6),
        (0.6, 0.8),
        (0.8, 1),
    ]
    whole = [relation for relation in book.relations if relation.terms[0] == ("n", 1.0) and len(relation.terms) == 6]
    assert len(whole) == 2


def test_an_intruder_has_its_measures_and_what_did_not_run():
    one = SimpleNamespace(
        name="boss", keys=("a", "b"), results={"identity_disclosure": identity(), "unknown": None},
        skipped=(("record_linkage", "too many"),),
    )  # fmt: skip
    tree = intruder_tree(one, 0, ledger(), [100])
    assert list(tree["measures"]) == ["identity_disclosure"]
    assert tree["skipped"][0]["measure"] == "record_linkage"


@pytest.mark.parametrize("measure", SHARES)
def test_containers_stand_before_what_they_contain(measure):
    view, seen = view_of(measure), []
    assert isinstance(view, ShareView)
    for figure in view.shares:
        assert not figure.inside or figure.inside in seen
        seen.append(figure.name)
    assert {kind.figure for kind in LIMITS.values() if kind.measure == measure} <= set(seen)


def leaf(value):
    return {"text": f"{value} %", "value": value / 100}


def test_many_releases_are_summed_up():
    tree = {"releases": [{"rate": leaf(one)} for one in (1, 2, 3, 4, 5)]}
    assert over(tree, "rate") == "3 %"
    assert by_release([leaf(5), leaf(1), leaf(3), leaf(2), leaf(4)]) == ("3 %", "1 %", "5 %")
    assert by_release([leaf(1), None]) == ("1 %", "–")
    assert by_release([{"text": "withheld", "value": None}] * 5) == ("–",) * 3
    assert release_heads(5) == ("Mean of 5 releases", "Smallest", "Largest")
    assert release_heads(2) == ("Release 1", "Release 2")
    shares = view_of("record_linkage").shares
    assert shares_table("Linked", shares, tree).rows == ((shares[0].words, "3 %", "1 %", "5 %", "–"),)
    wholes = [{"rate": leaf(one) | {"of": of}} for one, of in ((1, "1,000"), (2, "240"), (3, "240"))]
    assert shares_table("Linked", shares, {"releases": wholes}).columns[-1] == "Of records"
    assert shares_table("Linked", shares, {"releases": wholes}).rows[0][-1] == "240 to 1,000"
    assert over({"releases": [{}, {}]}, "rate") == "an unknown share"


# Columns of which values are given back: in which order, which are named, and the table of the file put
# back.


def test_small_numbers_stand_at_their_bound() -> None:
    assert {shown_share(few, 40) for few in range(1, 6)} == {5 / 40}
    assert shown_share(0, 40) == 0
    assert shown_share(3, 4) == 1
    assert shown_share(6, 40) == 6 / 40


def test_a_hidden_number_is_something_given_back() -> None:
    columns = [{"column": name, "back": {"value": value}} for name, value in (("a", None), ("b", 0), ("a", 7))]
    assert columns_given_back({"x": {"releases": [{"columns": columns}]}}, "x") == ["a"]
    assert columns_given_back({"x": {"releases": [{"columns": columns[1:2]}]}}, "x") == []
    assert columns_given_back({"x": {"releases": [{"columns": []}]}}, "x") is None


def test_the_table_has_a_column_for_each_release_that_was_put_back() -> None:
    def release(n: str) -> dict[str, Any]:
        return {"k": 3, "below": {"value": 5, "text": n}}

    words = {"below": "fewer than {k}"}
    (table,) = put_back_tables({"releases": [release("10"), release("15"), {}]}, words, head="h", title="t")
    assert table.rows == (("fewer than 3", "10", "15"),)
    assert len(table.columns) == 3
    assert put_back_tables({"releases": [{}]}, words, head="h", title="t") == []
