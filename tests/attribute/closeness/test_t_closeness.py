"""The figures of t-closeness and the ways to say how far values are apart; laws/ and golden/ show they are right."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from draw import quiet
from sdckit import as_cells, t_closeness
from sdckit.attribute.closeness import t_closeness as earth_movers
from sdckit.attribute.closeness.cell_classes import spread_of as spread_of_cells
from sdckit.attribute.closeness.t_closeness import (
    _by_branches,
    _by_order,
    _stretch,
    branches_of,
    distance_by_branches,
    distance_by_order,
    order_of,
    steps_of,
)
from sdckit.data.files.file_labels import code_text
from sdckit.errors import DataError

FRAME = pl.DataFrame({"sex": ["f", "f", "m", "m"], "health": ["bad", "fair", "good", "good"], "debt": [0, 1, 1, 10]})
ORDER = ["bad", "fair", "good"]


def level(variable, **options):
    return t_closeness(FRAME, keys=["sex"], sensitive=variable, **options).level[variable]


def test_figures_and_records():
    result = t_closeness(FRAME, keys=["sex"], sensitive=["health", "debt"], limits=(0.25, 0.5))
    assert result.level == pytest.approx({"health": 0.5, "debt": 0.25})
    assert result.quartiles["debt"] == pytest.approx((0.25, 0.25, 0.25))
    assert result.violations == {"health": {0.25: 4, 0.5: 0}, "debt": {0.25: 0, 0.5: 0}}
    assert result.distances == {"health": "equal", "debt": "equal"}
    assert result.records["t_health"].to_list() == pytest.approx([0.5] * 4)
    assert "level[health]" in result.details()["figure"].to_list()
    assert repr(result).startswith("TCloseness(n=4, level[health]=0.5")


@pytest.mark.parametrize(
    ("variable", "distance", "expected"),
    [
        ("debt", "equal", 0.25),
        ("debt", "ordered", 0.25),
        ("debt", "numeric", 0.25),
        ("health", ORDER, 0.375),
        ("health", tuple(reversed(ORDER)), 0.375),
        ("health", {"bad": ["ill"], "fair": ["ill"], "good": ["well"]}, 0.5),
        ("health", {"bad": ["ill"], "fair": ["well"], "good": ["well"]}, 0.375),
        ("debt", {0: ["none"], 1: ["some"], 10.0: ["some"]}, 0.25),
    ],
)
def test_distances(variable, distance, expected):
    assert level(variable, distance=distance) == pytest.approx(expected)


def test_an_ordered_category_knows_its_order():
    frame = FRAME.with_columns(health=pl.col("health").cast(pl.Enum(ORDER)))
    result = t_closeness(frame, keys=["sex"], sensitive="health", distance="ordered")
    assert result.level["health"] == pytest.approx(0.375)
    pandas = frame.to_pandas()
    again = t_closeness(pandas, keys=["sex"], sensitive="health", distance="ordered")
    assert again.level == result.level


def test_levels_in_their_order_by_variable():
    """A dict of lists by variable is no hierarchy, though it looks like one."""
    for distance in (ORDER, {"health": ORDER}):
        result = t_closeness(FRAME, keys=["sex"], sensitive="health", distance=distance)
        assert result.distances == {"health": "ordered"}
        assert result.level["health"] == pytest.approx(level("health", distance=ORDER))


def test_a_distance_per_variable():
    distance = {"health": ORDER, "debt": "numeric"}
    result = t_closeness(FRAME, keys=["sex"], sensitive=["health", "debt"], distance=distance)
    assert result.level == pytest.approx({"health": 0.375, "debt": 0.25})
    assert result.distances == {"health": "ordered", "debt": "numeric"}
    tree = {"bad": ["ill"], "fair": ["ill"], "good": ["well"]}
    mixed = t_closeness(FRAME, keys=["sex"], sensitive=["health", "debt"], distance={"health": tree, "debt": "equal"})
    assert mixed.distances == {"health": "hierarchy", "debt": "equal"}


@pytest.mark.parametrize(
    ("distance", "words"),
    [
        ("ordered", r"'health' \(text\) have no order"),
        ("numeric", r"'health' \(text\) have no order"),
        ("euclid", "distance 'euclid' is unknown; use equal, ordered, numeric"),
        ([], "distance is a name, a list of levels in their order, or a hierarchy"),
        ({}, "distance is a name, a list of levels in their order, or a hierarchy"),
        (3, "distance is a name, a list of levels in their order, or a hierarchy"),
        ({"health": "equal", "debt": "equal"}, "names every sensitive variable once, and no other"),
    ],
)
def test_distances_that_cannot_be(distance, words):
    with pytest.raises(DataError, match=words) as caught:
        level("health", distance=distance)
    assert "bad" not in str(caught.value).replace("bad input", "")


def test_a_wildcard_brings_classes_closer():
    frame = FRAME.vstack(pl.DataFrame({"sex": [None], "health": ["bad"], "debt": [3]}))
    category, wildcard = (
        t_closeness(frame, keys=["sex"], sensitive="health", missing=rule).records["t_health"]
        for rule in ("category", "wildcard")
    )
    assert (wildcard <= category).all()
    assert wildcard[4] == pytest.approx(0.0)


# Distances of classes from the file by hand, long orders, and what no order or tree can be made of.


def spread_of(keys, values):
    with quiet():
        cells = as_cells(pl.DataFrame({"k": keys, "s": values}), keys=["k"], missing="category")
    return spread_of_cells(cells, "s"), cells.table.of_row


def by_record(found):
    distances, of_row = found
    return distances[of_row].tolist()


def on_a_line(keys, values, numeric=False):
    spread, of_row = spread_of(keys, values)
    rank = order_of(spread.levels)
    return by_record((distance_by_order(spread, rank, steps_of(spread.levels, rank, numeric=numeric)), of_row))


def test_numbers_by_hand():
    keys, values = list("aabb"), [0, 1, 1, 10]
    assert on_a_line(keys, values) == pytest.approx([0.25] * 4)  # (1/4 at 1 and 1/4 at 10) over 2
    assert on_a_line(keys, values, numeric=True) == pytest.approx([(0.25 * 1 + 0.25 * 9) / 10] * 4)


def test_decimals_below_zero_are_in_order():
    keys, values = list("aabb"), [-3.25, -1.5, 2.5, 2.75]
    shifted = on_a_line(keys, [value + 10 for value in values])
    assert on_a_line(keys, values) == pytest.approx(shifted)
    assert shifted == pytest.approx([(1 / 4 + 2 / 4 + 1 / 4) / 3] * 4)


def test_missing_values_are_far_from_all_others():
    # class a: half missing of 1/4 in the file, its known values as in the file
    keys, values = list("aabb"), [5, None, 5, 5]
    assert on_a_line(keys, values) == pytest.approx([0.25] * 4)
    keys, values = list("aabb"), [None, None, 1, 2]
    assert on_a_line(keys, values) == pytest.approx([0.5] * 4)


def test_one_value_only():
    assert on_a_line(list("ab"), [3, 3]) == [0.0, 0.0]
    assert on_a_line(list("ab"), [3, 3], numeric=True) == [0.0, 0.0]


def test_long_orders_are_looked_up():
    rng = np.random.default_rng(5)
    keys, values = rng.integers(0, 40, 3000), rng.integers(0, 700, 3000)
    found = on_a_line(keys, values)
    file = np.bincount(values, minlength=700) / 3000
    used = np.flatnonzero(file)
    below = np.cumsum(file[used])[:-1]
    for key in range(40):
        mine = np.bincount(values[keys == key], minlength=700)[used]
        expected = np.abs(np.cumsum(mine / mine.sum())[:-1] - below).sum() / (len(used) - 1)
        assert found[int(np.flatnonzero(keys == key)[0])] == pytest.approx(expected, rel=1e-12)


def test_compiled_kernels_do_what_their_source_says():
    rng = np.random.default_rng(1)
    spread, _ = spread_of(rng.integers(0, 3, 60), [*rng.integers(0, 30, 58), None, None])
    rank = order_of(spread.levels)
    step = steps_of(spread.levels, rank, numeric=True)
    nodes = np.vstack([np.arange(len(rank) + 1), len(rank) + 1 + np.arange(len(rank) + 1) % 3])
    share = np.bincount(nodes.ravel(), np.broadcast_to(spread.share, nodes.shape).ravel())
    outs = [np.empty(3) for _ in range(4)]
    tree = (spread.edges, spread.level, spread.count, nodes, share, 2.0)
    _by_branches(*tree, outs[0])
    _by_branches.py_func(*tree, outs[1])
    assert outs[0].tolist() == pytest.approx(outs[1].tolist(), rel=1e-14)
    at, below = np.append(0.0, np.cumsum(step)), np.cumsum(spread.share)[: len(step)]
    weighed = np.append(0.0, np.cumsum(step * below))
    places = np.append(rank, len(rank))[spread.level]
    line = (spread.edges, places, spread.count, below, step, at, weighed, 0.9)
    _by_order(*line, outs[2])
    _by_order.py_func(*line, outs[3])
    assert outs[2].tolist() == pytest.approx(outs[3].tolist(), rel=1e-14)
    long, short = (_stretch.py_func(0, b, 0.4, below, step, at, weighed) for b in (len(step), earth_movers.SHORT))
    assert long == pytest.approx(np.sum(step * np.abs(0.4 - below)), rel=1e-12)
    assert short == pytest.approx(np.sum((step * np.abs(0.4 - below))[: earth_movers.SHORT]), rel=1e-12)


TREE = {"a": ["x", "r"], "b": ["x", "r"], "c": ["y", "r"], "unused": ["z", "r"]}


def test_a_tree_by_hand():
    spread, of_row = spread_of([1, 1, 2, 2], list("aabc"))
    nodes = branches_of(spread.levels, TREE)
    assert nodes.shape == (2, 3)
    # class 1: half too much of a, a quarter of x; class 2: a quarter too much of b and c, a quarter of y
    assert by_record((distance_by_branches(spread, nodes), of_row)) == pytest.approx([0.375] * 4)


def test_a_root_is_added_where_the_last_parents_differ():
    spread, of_row = spread_of([1, 1, 2, 2], list("aabc"))
    rootless = {level: parents[:1] for level, parents in TREE.items()}
    for tree in (TREE, rootless):
        nodes = branches_of(spread.levels, tree)
        assert by_record((distance_by_branches(spread, nodes), of_row)) == pytest.approx([0.375] * 4)
    high = {level: [*parents, "top"] for level, parents in TREE.items()}  # two roots: nothing is far apart
    nodes = branches_of(spread.levels, high)
    assert by_record((distance_by_branches(spread, nodes), of_row)) == pytest.approx([0.25] * 4)


def test_whole_numbers_name_levels_as_they_print():
    spread, _ = spread_of([1, 1], [1.0, 2.0])
    nodes = branches_of(spread.levels, {1: ["low"], 2.0: ["low"]})
    assert nodes.tolist() == [[0, 1]]
    assert [code_text(value) for value in (1.0, 1.5, 3, "x", True)] == ["1", "1.5", "3", "x", "True"]


@pytest.mark.parametrize(
    ("hierarchy", "words"),
    [
        ({"a": ["x"], "b": ["x", "r"], "c": ["y"]}, "different numbers of parents"),
        ({"a": [], "b": [], "c": []}, "different numbers of parents"),
        ({"a": "x", "b": "x", "c": "y"}, "in a list, nearest first"),
        ({"a": 1, "b": 2, "c": 3}, "in a list, nearest first"),
        ({"a": ["x", "r"], "b": ["x", "q"], "c": ["y", "r"]}, "group 'x' belongs to two larger groups"),
        ({"a": ["x"]}, "the hierarchy lacks 2 levels of 's'"),
    ],
)
def test_what_is_no_tree(hierarchy, words):
    spread, _ = spread_of([1, 1, 1], list("abc"))
    with pytest.raises(DataError, match=words):
        branches_of(spread.levels, hierarchy)


def test_what_has_no_order():
    spread, _ = spread_of([1, 1, 1], list("abc"))
    with pytest.raises(DataError, match=r"values of 's' \(text\) have no order: make it an ordered category"):
        order_of(spread.levels)
    with pytest.raises(DataError, match="the list lacks 1 level of 's'; complete it"):
        order_of(spread.levels, ["b", "a"])
    with pytest.raises(DataError, match="listed more than once"):
        order_of(spread.levels, ["c", "b", "a", "a"])
    rank = order_of(spread.levels, ["c", "never", "b", "a"])
    assert rank.tolist() == [2, 1, 0]
    with pytest.raises(DataError, match="needs finite numbers; 's' is of kind text"):
        steps_of(spread.levels, rank, numeric=True)
    spread, _ = spread_of([1, 1], [1.5, np.inf])
    with pytest.raises(DataError, match="'s' holds infinite ones"):
        steps_of(spread.levels, order_of(spread.levels), numeric=True)


@pytest.mark.parametrize("dtype", [pl.Enum(["low", "mid", "high"]), pl.String])
def test_an_order_declared_or_listed(dtype):
    values = pl.Series(["high", "low", "low", "mid"], dtype=dtype)
    spread, _ = spread_of([1, 1, 2, 2], values)
    rank = order_of(spread.levels, None if dtype == pl.Enum else ["low", "mid", "high"])
    named = dict(zip(spread.levels.labels(), rank.tolist(), strict=True))
    assert named == {"low": 0, "mid": 1, "high": 2}
