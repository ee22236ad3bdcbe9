"""The figures and records of C1; that they are right is shown in laws/ and golden/."""

from __future__ import annotations

import math

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from draw import quiet
from sdckit import Scenario, as_cells, l_diversity
from sdckit.attribute.l_diversity import KINDS, _diversity, diversity, homogeneous_cells
from sdckit.cells.table import Crosstab
from sdckit.data.columns import code_column
from sdckit.errors import ColumnError, DataError, ScenarioError

FRAME = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "m", "m", None],
        "health": ["yes", "yes", "no", "yes", "yes", "no"],
        "debt": [1, 2, 3, 1, 2, 3],
    }
)


def table_of(edges, level, count, missing):
    return Crosstab(edges, level, count, missing, code_column(nw.from_native(FRAME["debt"], series_only=True)))


def one_class(*counts, missing=0):
    """A table of one cell; the last count is of missing values."""
    counts = [*counts, missing] if missing else counts
    code = len(counts) - 1 if missing else -1
    edges = np.array([0, len(counts)])
    return table_of(edges, np.arange(len(counts)), np.array(counts), code)


@pytest.mark.parametrize(
    ("table", "c", "distinct", "entropy", "recursive"),
    [
        (one_class(1), 2.0, 1, 1.0, 1),
        (one_class(4), 1.0, 1, 1.0, 0),
        (one_class(4), 0.5, 1, 1.0, 0),
        (one_class(2, 2), 2.0, 2, 2.0, 2),
        (one_class(2, 2), 1.0, 2, 2.0, 1),
        (one_class(5, 3, 2, 1), 1.0, 4, None, 2),
        (one_class(5, 3, 2, 1), 2.0, 4, None, 3),
        (one_class(5, 3, 2, 1), 3.0, 4, None, 3),
        (one_class(5, 3, 2, 1), 6.0, 4, None, 4),
        (one_class(100, 1), 2.0, 2, None, 1),
        (one_class(2, missing=2), 2.0, 2, 2.0, 1),
        (one_class(2, missing=2), 1.0, 2, 2.0, 0),
        (one_class(missing=3), 2.0, 1, 1.0, 1),
        (one_class(missing=3), 1.0, 1, 1.0, 1),
    ],
)
def test_one_class(table, c, distinct, entropy, recursive):
    found = {kind: float(values[0]) for kind, values in diversity(table, c).items()}
    if entropy is None:
        shares = table.count / table.count.sum()
        entropy = math.exp(-sum(p * math.log(p) for p in shares))
    assert found == pytest.approx({"distinct": distinct, "entropy": entropy, "recursive": recursive}, rel=1e-14)


def test_compiled_kernel_does_what_its_source_says():
    table = table_of(np.array([0, 2, 5, 6]), np.array([0, 3, 0, 1, 2, 3]), np.array([2, 1, 5, 4, 4, 9]), 3)
    outs = [[np.empty(3) for _ in KINDS] for _ in range(2)]
    _diversity(table.edges, table.level, table.count, table.missing, 2.0, *outs[0])
    _diversity.py_func(table.edges, table.level, table.count, table.missing, 2.0, *outs[1])
    for one, two in zip(*outs, strict=True):
        assert one.tolist() == pytest.approx(two.tolist(), rel=1e-15)


def test_homogeneous_cells():
    table = table_of(np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1]), np.array([1, 2, 2, 5]), -1)
    assert homogeneous_cells(table) == 1


def test_figures_and_records():
    result = l_diversity(FRAME, keys=["sex"], sensitive=["health", "debt"], levels=(2, 3))
    assert (result.n, result.variables) == (6, ("health", "debt"))
    assert result.level["health"]["distinct"] == 1
    assert result.quartiles["debt"]["distinct"] == (2.0, 2.5, 3.0)
    assert result.largest["debt"]["distinct"] == 3
    columns = {kind: result.records[f"{kind}_debt"] for kind in result.level["debt"]}
    assert result.largest["debt"] == {kind: values.max() for kind, values in columns.items()}
    assert result.to_dict()["figures"]["largest"] == result.largest
    assert result.violations["health"]["distinct"] == {2: 3, 3: 6}
    assert result.homogeneous == {"health": 1, "debt": 0}
    assert result.missing_rule == "a missing key value is a category of its own"
    records = result.records
    assert records.columns == [f"{kind}_{name}" for name in ("health", "debt") for kind in KINDS]
    assert records["distinct_health"].to_list() == [2, 2, 2, 1, 1, 1]
    assert records["entropy_debt"].to_list() == pytest.approx([3, 3, 3, 2, 2, 1])
    assert records["recursive_debt"].to_list() == [3, 3, 3, 2, 2, 1]
    assert records.schema["recursive_debt"] == pl.Int64


def test_a_wildcard_makes_classes_grow():
    result = l_diversity(FRAME, keys=["sex"], sensitive="health", missing="wildcard")
    assert result.records["distinct_health"].to_list() == [2] * 6
    assert result.missing_rule == "a missing key value may stand for any value"
    assert result.homogeneous == {"health": 0}


def test_one_kind_only():
    result = l_diversity(FRAME, keys=["sex"], sensitive="health", kind="entropy", prefix="x_")
    assert result.records.columns == ["x_entropy_health"]
    assert set(result.level["health"]) == {"entropy"}
    two = l_diversity(FRAME, keys=["sex"], sensitive="health", kind=["recursive", "distinct"])
    assert two.records.columns == ["recursive_health", "distinct_health"]


def test_a_level_reached_by_rounding_is_no_violation():
    frame = pl.DataFrame({"k": [1, 1, 1, 2, 2, 2], "s": [1, 2, 3, 1, 2, 3]})
    result = l_diversity(frame, keys=["k"], sensitive="s", levels=(3,))
    assert result.violations["s"]["entropy"] == {3: 0}


def test_the_scenario():
    scenario = Scenario(keys=["sex"], sensitive=["health"], missing="wildcard", thresholds={"l": 4})
    result = l_diversity(FRAME, scenario=scenario)
    assert result.cells.rules == ("category",)  # the scenario's rule is that of frequencies
    assert tuple(result.violations["health"]["distinct"]) == (2, 3, 4)
    again = l_diversity(as_cells(FRAME, keys=["sex"], missing="category"), scenario=scenario)
    assert again.records.equals(result.records)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({}, ScenarioError, r"say what an intruder would learn: sensitive=\[...\]"),
        ({"sensitive": "sex"}, ColumnError, "'sex' is a key and sensitive"),
        ({"sensitive": "helth"}, ColumnError, "sensitive: no column 'helth'"),
        (
            {"sensitive": "health", "c": 0},
            DataError,
            "c is the constant of recursive l-diversity; give a number above 0",
        ),
        ({"sensitive": "health", "c": float("nan")}, DataError, "c is the constant"),
        (
            {"sensitive": "health", "kind": "simple"},
            DataError,
            "kind 'simple' is unknown; there are: distinct, entropy",
        ),
        ({"sensitive": "none"}, DataError, "sensitive variable 'none' has no value in any record"),
    ],
)
def test_what_cannot_be(given, error, words):
    frame = FRAME.with_columns(none=pl.lit(None, pl.Int64))
    with pytest.raises(error, match=words):
        l_diversity(frame, keys=["sex"], **given)


def test_cells_do_not_hide_that_a_key_is_sensitive():
    cells = as_cells(FRAME, keys=["sex"], missing="category")
    with pytest.raises(ColumnError, match="'sex' is a key and sensitive"):
        l_diversity(cells, sensitive="sex")
    with pytest.raises(ColumnError, match="sensitive: no column 'helth' in the data; did you mean 'health'"):
        l_diversity(cells, sensitive="helth")


def test_a_numeric_variable_and_a_constant_key():
    frame = pl.DataFrame({"k": [1, 1, 1], "s": [0.0, -0.0, float("nan")]})
    with quiet():
        assert l_diversity(frame, keys=["k"], sensitive="s").records["distinct_s"].to_list() == [2, 2, 2]


def test_one_level_is_as_good_as_a_list():
    result = l_diversity(FRAME, keys=["sex"], sensitive="health", kind="distinct", levels=2)
    assert result.violations == {"health": {"distinct": {2: 3}}}


@pytest.mark.parametrize(("option", "message"), [({"levels": 1}, "2 or more"), ({"kind": []}, "kind is empty")])
def test_options_that_ask_for_nothing(option, message):
    with pytest.raises(DataError, match=message):
        l_diversity(FRAME, keys=["sex"], sensitive="health", **option)


def test_the_mean_is_that_of_the_records():
    result = l_diversity(FRAME, keys=["sex"], sensitive=["health"])
    for kind, mean in result.mean["health"].items():
        assert mean == pytest.approx(result.records[f"{kind}_health"].mean())
