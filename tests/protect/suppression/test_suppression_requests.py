"""What a call asks for: sets of keys with their k, and the order of the keys."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.errors import ColumnError, DataError
from sdckit.protect.suppression.suppression_requests import read_combinations, read_importance

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


@pytest.mark.parametrize(
    "importance",
    [{"sex": 2, "job": 1, "age": 3}, ["job", "sex", "age"], [2, 3, 1], (2, 3, 1)],
)
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
