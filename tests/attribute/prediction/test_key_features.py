"""Keys as numbers: means and marks of missing values, design matrices, an order that rows do not decide."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sdckit.attribute.prediction import key_features
from sdckit.attribute.prediction.key_features import (
    Features,
    Selection,
    features_of,
    first_of_each,
    order_of_rows,
)
from sdckit.cells.pair import open_pair
from sdckit.errors import DataError

ORIGINAL = pl.DataFrame({"age": [20.0, None, 40.0], "place": ["x", "y", None]})
RELEASED = pl.DataFrame({"age": [10.0, 30.0, None, 50.0], "place": ["y", "y", "z", None]})


def pair():
    return open_pair(ORIGINAL, RELEASED, categories={"keys": ["age", "place"]}, numeric={"numeric": ["age"]})


def select(file, *rows):
    return Selection(file, np.array(rows, np.int64))


def test_a_missing_number_is_the_training_mean_with_a_mark():
    found = features_of(pair(), ["age", "place"], ["age"], select(1, 0, 1, 2), select(0, 0, 1, 2))
    train, query = found.numbers[0]
    assert (train.tolist(), query.tolist()) == ([10.0, 30.0, 20.0], [20.0, 20.0, 40.0])
    assert [part.tolist() for part in found.codes[0]] == [[0, 0, 1], [0, 1, 0]]
    assert found.scale == (pytest.approx(np.std([10, 30], ddof=1)),)
    assert found.sizes == (3, 3)
    train, query = found.codes[1]
    assert (train[0] == train[1]) == (train[0] == query[1])


def test_without_missing_values_there_is_no_mark():
    found = features_of(pair(), ["age"], ["age"], select(1, 0, 1), select(0, 0))
    assert found.codes == ()


def test_training_rows_without_any_value():
    found = features_of(pair(), ["age"], ["age"], select(1, 2), select(0, 0, 1))
    assert (found.numbers[0][0].tolist(), found.scale) == ([0.0], (0.0,))


def test_a_number_declared_a_category_is_one():
    found = features_of(pair(), ["age"], [], select(1, 0), select(0, 0))
    assert (found.numbers, len(found.codes)) == ((), 1)


def test_the_design_holds_numbers_and_a_column_per_category():
    found = features_of(pair(), ["age", "place"], ["age"], select(1, 0, 1), select(0, 0, 2))
    train, query = found.design()
    assert train[:, 0].tolist() == [10.0, 30.0]
    assert train.shape[1] == query.shape[1] == 1 + 3  # x, y and missing
    assert train[:, 1:].sum(axis=1).tolist() == query[:, 1:].sum(axis=1).tolist() == [1.0, 1.0]
    assert (train[0, 1:] == train[1, 1:]).all()
    assert not (query[0, 1:] == query[1, 1:]).all()


def test_a_design_that_is_too_large(monkeypatch):
    monkeypatch.setattr(key_features, "DESIGN_LIMIT", 5)
    one = (np.zeros(2), np.zeros(1))
    with pytest.raises(DataError, match=r"3 rows of 2 columns .* use model='knn', coarser keys or a sample"):
        Features((one, one), (), (1.0, 1.0)).design()


def test_one_record_stands_for_all_with_its_key():
    of_row = np.array([5, 3, 5, 9, 3])
    first, place = first_of_each(of_row, np.array([4, 2, 1, 0]))
    assert (of_row[first[place]] == of_row[[4, 2, 1, 0]]).all()
    assert len(first) == 2


def test_the_order_is_that_of_the_values():
    found = pair()
    order = order_of_rows(found, ("age", "place"), 1)
    backwards = open_pair(ORIGINAL, RELEASED.reverse(), categories={"keys": ["age", "place"]})
    again = order_of_rows(backwards, ("age", "place"), 1)
    assert RELEASED[order.tolist()].equals(RELEASED.reverse()[again.tolist()])
