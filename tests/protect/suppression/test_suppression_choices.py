"""Groups of cells that agree on all keys but some."""

from __future__ import annotations

import numpy as np
import pytest

from protect.suppression_files import draw_rows, free, frequencies, needs, without, working
from sdckit.errors import ColumnError, DataError
from sdckit.protect.suppression.suppression_choices import Order, find_choices, read_combinations, read_importance


@pytest.mark.parametrize(("seed", "k"), [(1, 2), (2, 3), (3, 5)])
def test_each_cell_needs_what_its_record_alone_would(seed, k):
    rows = draw_rows(seed, 40, (3, 4, 5))
    at = working(rows).situation([0, 1, 2])
    choices = find_choices(at, k, free(rows))
    expected = needs(rows, k)
    found = dict(zip(at.first[choices.cells].tolist(), choices.needs.tolist(), strict=True))
    assert found == {i: expected[i] for i in found}
    assert {int(at.of_row[i]) for i in expected} == set(choices.cells.tolist())


def test_a_group_holds_the_cells_at_risk_that_agree_on_the_other_keys():
    rows = draw_rows(4, 40, (3, 4, 5))
    at = working(rows).situation([0, 1, 2])
    choices = find_choices(at, 3, free(rows))
    first = at.first[choices.cells]
    assert len(choices.masks)
    for g, mask in enumerate(choices.masks.tolist()):
        keys = {j for j in range(3) if mask >> j & 1}
        members = choices.members[choices.starts[g] : choices.starts[g + 1]]
        patterns = {without(rows[first[c]], keys) for c in members}
        assert len(patterns) == 1
        pattern = patterns.pop()
        assert choices.sizes[g] == sum(without(row, keys) == pattern for row in rows)
        assert choices.costs[g] == len(keys)
        alone = {c for c in range(len(first)) if without(rows[first[c]], keys) == pattern}
        assert set(members.tolist()) == alone
        own = choices.own[choices.starts[g] : choices.starts[g + 1]]
        for c, reached in zip(members, own, strict=True):
            if reached:
                i = int(first[c])
                assert frequencies([*rows[:i], without(rows[i], keys), *rows[i + 1 :]])[i] >= 3
                assert choices.needs[c] == len(keys)


def test_a_strict_order_leaves_one_group_to_each_cell():
    rows = draw_rows(5, 60, (3, 4, 5))
    at = working(rows).situation([0, 1, 2])
    choices = find_choices(at, 2, Order((1.0, 3.0, 2.0), strict=True))
    assert np.bincount(choices.members[choices.own], minlength=len(choices.cells)).max() == 1


def test_sets_are_tried_in_the_order_of_the_keys():
    order = Order((2.0, 1.0, 3.0), strict=True)
    assert order.sets(1) == [(2,), (0,), (1,)]
    assert order.sets(2) == [(0, 2), (1, 2), (0, 1)]


def test_cells_that_lack_values_are_left_to_others():
    at = working([(1, None), (2, 3), (4, 5)]).situation([0, 1])
    choices = find_choices(at, 2, Order((1.0, 1.0), strict=False))
    assert (at.codes[choices.cells] >= 0).all()
    assert len(choices.cells) == 2


def test_no_cell_at_risk_no_group():
    choices = find_choices(working([(1,), (1,)]).situation([0]), 2, Order((1.0,), strict=False))
    assert (len(choices.cells), len(choices.masks), choices.starts.tolist()) == (0, 0, [0])


# The file while values are taken out: frequencies by the rule of `cells/`.


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_frequencies_follow_what_is_taken_out(alpha):
    rows = draw_rows(1, 30, (2, 3, 3), missing=0.1)
    file = working(rows, alpha)
    at = file.situation([0, 1, 2])
    assert at.frequency[at.of_row].tolist() == pytest.approx(frequencies(rows, alpha))
    file.take_out([0, 1, 2], np.array([0b101, 0b010], np.uint64), np.array([4, 7]))
    after = [*rows]
    after[4], after[7] = without(rows[4], {0, 2}), without(rows[7], {1})
    at = file.situation([0, 1, 2])
    assert at.frequency[at.of_row].tolist() == pytest.approx(frequencies(after, alpha))
    assert [int(file.new(j).sum()) for j in range(3)] == [
        sum(a[j] != b[j] for a, b in zip(rows, after, strict=True)) for j in range(3)
    ]


def test_some_keys_and_strata():
    rows = [(1, 5), (1, 6), (1, 5), (2, 5)]
    at = working(rows, strata=["a", "a", "b", "b"]).situation([0])
    assert at.frequency[at.of_row].tolist() == [2, 2, 1, 1]
    assert at.codes.shape == (3, 1)


def test_cells_at_risk_and_their_rows_come_in_the_order_of_the_file():
    rows = [(9,), (1,), (5,), (5,), (9,), (9,)]
    at = working(rows).situation([0])
    risky = at.at_risk(3)
    assert at.first[risky].tolist() == [1, 2]
    found, starts = at.rows_of(risky)
    assert (found.tolist(), starts.tolist()) == ([1, 2, 3], [0, 1, 3])


def test_missing_values_have_no_code():
    at = working([(1, None), (None, 2)]).situation([0, 1])
    assert sorted((at.codes < 0).tolist()) == [[False, True], [True, False]]


# What a call asks for: sets of keys with their k, and the order of the keys.


KEYS = ("sex", "age", "job")


def test_k_alone_is_all_keys():
    assert read_combinations(KEYS, 3, None, 10) == [((0, 1, 2), 3)]
    assert read_combinations(KEYS, np.int64(3), None, 10) == [((0, 1, 2), 3)]


def test_sizes_are_all_sets_the_largest_first():
    assert read_combinations(KEYS, None, {1: 5, 2: 3}, 10) == [
        ((0, 1), 3), ((0, 2), 3), ((1, 2), 3), ((0,), 5), ((1,), 5), ((2,), 5)
    ]  # fmt: skip


def test_sets_by_name_and_the_higher_k_where_two_are_asked():
    expected = [((0, 1, 2), 2), ((0, 2), 4)]
    assert read_combinations(KEYS, 2, {("job", "sex"): 4}, 10) == expected
    assert read_combinations(KEYS, 2, [(["job", "sex"], 4), (["sex", "job"], 3)], 10) == expected
    assert read_combinations(KEYS, None, {"age": 4}, 10) == [((1,), 4)]


@pytest.mark.parametrize(
    ("k", "combinations", "error", "message"),
    [
        (None, None, DataError, "say which k"),
        (1, None, DataError, "2 or more"),
        (True, None, DataError, "2 or more"),
        (2.0, None, DataError, "2 or more"),
        (11, None, DataError, "k = 11 is more than the 10 records"),
        (None, {4: 2}, DataError, "no set of 4 among 3 keys"),
        (None, {0: 2}, DataError, "no set of 0"),
        (None, {2: 1}, DataError, "2 or more"),
        (None, {}, DataError, "empty"),
        (None, {("sex", "agee"): 2}, ColumnError, "combinations: 'agee' is not one of the keys; did you mean 'age'"),
        (None, {("sex", "sex"): 2}, ColumnError, "twice"),
        (None, {(): 2}, DataError, "name a size"),
        (None, {2.5: 2}, DataError, "name a size"),
        (None, [("sex", "age", 2)], DataError, r"\{size: k\}"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(k, combinations, error, message):
    with pytest.raises(error, match=message):
        read_combinations(KEYS, k, combinations, 10)


def test_too_many_combinations():
    keys = [f"k{j}" for j in range(30)]
    with pytest.raises(DataError, match="combinations of 15 keys; name at most 5000"):
        read_combinations(keys, None, {15: 2}, 10)
    with pytest.raises(DataError, match="8120 combinations of keys"):
        read_combinations(keys, None, {3: 2, 27: 2}, 10)


@pytest.mark.parametrize("importance", [{"sex": 2, "job": 1, "age": 3}, ["job", "sex", "age"], [2, 3, 1], (2, 3, 1)])
def test_importance_in_its_three_forms(importance):
    assert read_importance(KEYS, importance) == (2.0, 3.0, 1.0)


def test_no_importance():
    assert read_importance(KEYS, None) is None


@pytest.mark.parametrize(
    ("importance", "error", "message"),
    [
        ({"sex": 1, "age": 2, "income": 3}, ColumnError, "importance: 'income' is not one of the keys"),
        ({"sex": 1, "age": 2}, ColumnError, "key 'job' is left out"),
        (["sex", "age", "sex"], ColumnError, "'sex' is listed more than once"),
        ([1, 2], DataError, "2 numbers for 3 keys"),
        ([1, 2, float("nan")], DataError, "importance of a key .* a finite number"),
        ({"sex": 1, "age": 2, "job": "x"}, DataError, "importance of a key .* a finite number"),
        ("sex", DataError, "importance is"),
        (3, DataError, "importance is"),
    ],
)
def test_what_is_no_importance(importance, error, message):
    with pytest.raises(error, match=message):
        read_importance(KEYS, importance)
