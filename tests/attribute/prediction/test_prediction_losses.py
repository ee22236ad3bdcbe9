"""What a wrong guess costs."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.attribute.prediction.prediction_losses import costs_of, loss_of_numbers, named_loss
from sdckit.errors import DataError

LABELS = ["a", "b", "c"]


def test_losses_of_numbers():
    error, truth = np.array([1.0, 2.0, 3.0]), np.array([2.0, -4.0, 0.0])
    np.testing.assert_allclose(loss_of_numbers(error, truth, "absolute"), error)
    np.testing.assert_allclose(loss_of_numbers(error, truth, "squared"), [1, 4, 9])
    np.testing.assert_allclose(loss_of_numbers(error, truth, "relative"), [0.5, 0.5, np.nan])


def test_names():
    assert named_loss(None, numeric=True) == "absolute"
    assert named_loss("relative", numeric=True) == "relative"
    assert named_loss(None, numeric=False) == "wrong"
    assert named_loss({"a": {}}, numeric=False) == "costs"
    for loss, numeric in (("cubic", True), ([[0]], True), ("absolute", False), (3, False)):
        with pytest.raises(DataError) as caught:
            named_loss(loss, numeric=numeric)
        assert caught.value.argument == "loss"


@pytest.mark.parametrize(
    "loss", [[[0, 1, 2], [3, 0, 4], [5, 6, 0]],
             {"a": {"b": 1, "c": 2}, "b": {"a": 3, "c": 4}, "c": {"a": 5, "b": 6}}]
)  # fmt: skip
def test_tables(loss):
    assert costs_of(loss, LABELS).tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        ([[0, 1], [1, 0]], "for each of the 3 levels"),
        ([[0, -1, 1], [1, 0, 1], [1, 1, 0]], "0 or more"),
        ([[1, 1, 1], [1, 0, 1], [1, 1, 0]], "a right guess costs nothing"),
        ({"a": {"b": 1}}, "for each of the 3 levels"),
        ({"z": {"a": 1}}, "'z' is no level"),
        ({"a": 1}, "for each of the 3 levels"),
        ([["x"] * 3] * 3, "for each of the 3 levels"),
    ],
)
def test_what_is_refused(loss, says):
    with pytest.raises(DataError, match=says):
        costs_of(loss, LABELS)
