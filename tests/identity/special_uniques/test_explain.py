"""Why a record is at risk; what stays inside; what it refuses."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from draw import quiet
from sdckit import Scenario, as_cells, explain
from sdckit.errors import ColumnError, DataError
from sdckit.identity.special_uniques import explain as module
from sdckit.identity.special_uniques.explain import minimal_sets

FRAME = pl.DataFrame(
    {
        "id": ["p", "q", "r", "s", "t", "u"],
        "sex": ["f", "f", "m", "m", "f", "m"],
        "age": [30, 31, 30, 60, 61, 30],
        "job": ["MARKER", "a", "a", "b", "b", "a"],
    }
)
KEYS = ["sex", "age", "job"]


def test_what_singles_out_and_what_ends_it():
    result = explain(FRAME, keys=KEYS, row=4)
    assert (result.n, result.sharing, result.searched) == (6, 1, 3)
    assert result.key_sets == (("age",), ("sex", "job"))
    assert result.set_sizes == {1: 1, 2: 1}
    assert result.cheapest is None
    assert str(result) == "Alone among 6 records by: age; sex + job. No single change of one key ends it."
    unsure = explain(FRAME.rename({"age": "v3"}), keys=["sex", "v3"], row=2)  # numbers or codes? nobody said
    assert [(one.rule, one.sharing) for one in unsure.changes] == [("two levels as one", 2), ("", 3)]
    two = explain(FRAME, keys=["sex", "age"], row=2, numeric=["age"])
    assert two.key_sets == (("age",),)
    assert [(one.action, one.variable, one.sharing) for one in two.changes] == [
        ("coarsen", "age", 2), ("drop", "age", 3),
    ]  # fmt: skip
    assert (two.cheapest.rule, two.cheapest.levels_before, two.cheapest.levels_after) == (
        "neighbouring levels in pairs", 4, 2,
    )  # fmt: skip
    assert two.cheapest.entropy_lost < two.changes[1].entropy_lost
    assert "Cheapest single change: coarsen age, neighbouring levels in pairs (4 to 2 levels" in str(two)


def test_a_category_is_joined_with_the_rarest_level_that_helps():
    result = explain(FRAME, keys=["sex", "job"], row=1)
    assert result.key_sets == (("job",),)
    assert [(one.action, one.rule, one.sharing) for one in result.changes] == [
        ("coarsen", "two levels as one", 2), ("drop", "", 3),
    ]  # fmt: skip


def test_a_record_that_is_not_alone():
    result = explain(FRAME, keys=KEYS, row=3)
    assert (result.sharing, result.key_sets, result.changes) == (2, (), ())
    assert str(result) == "The record is not alone: 2 records share its keys."


def test_a_record_by_its_id_on_frames_and_plans():
    expected = explain(FRAME, keys=KEYS, row=1)
    for data in (FRAME, FRAME.to_pandas(), FRAME.lazy()):
        found = explain(data, keys=KEYS, row="p", id="id")
        assert found.to_dict() == expected.to_dict()
        assert found.values == {"sex": "f", "age": "30", "job": "MARKER"}
    assert explain(as_cells(FRAME, keys=KEYS), row=1).key_sets == expected.key_sets


def test_it_stays_in_the_room():
    result = explain(FRAME, keys=KEYS, row=1)
    shown = [str(result), repr(result), result._repr_html_(), str(result.to_dict()), str(result.summary())]
    assert not any("MARKER" in text for text in shown)
    assert "it stays in the room" in result._repr_html_()
    with pytest.raises(DataError, match="stays in the room"):
        result.plot()
    from sdckit.report.notebook import result_document

    with pytest.raises(DataError, match="has no chart or notebook view"):
        result_document(result)
    title = explain(FRAME, keys=["sex", "age"], row=2).plot(internal=True).to_dict()["title"]
    assert title == "Internal: contains confidential information"
    with pytest.raises(DataError, match="individual_risk gives figures for all"):
        result.records  # noqa: B018


def test_pickled():
    result = explain(FRAME, keys=KEYS, row=1)
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    assert str(again) == str(result)
    with pytest.raises(DataError, match="let go of the data"):
        again.values  # noqa: B018


def test_missing_values():
    frame = pl.DataFrame({"a": [1, None, 2, 2], "b": ["x", "x", "y", "y"]})
    assert explain(frame, keys=["a", "b"], row=1).sharing == 2
    alone = explain(frame, keys=["a", "b"], row=2, missing="category")
    assert alone.key_sets == (("a",),)
    assert [one.action for one in alone.changes] == ["drop"]  # a missing value is merged with nothing


def test_the_search_stops_where_there_are_too_many_sets(monkeypatch):
    monkeypatch.setattr(module, "MOST_SETS", 2)
    result = explain(FRAME, keys=KEYS, row=4)
    assert (result.searched, result.key_sets) == (0, ())
    assert result.notes["searched"] == "sets of more than 0 keys are too many to try"
    monkeypatch.undo()
    assert explain(FRAME, keys=KEYS, row=4, max_size=1).key_sets == (("age",),)


def test_any_match_is_company_whatever_alpha_is():
    frame = pl.DataFrame({"a": [1, None, 2], "b": [1, 1, 2]})
    for alpha in (0.0, 1.0):
        scenario = Scenario(keys=["a", "b"], alpha=alpha)
        with quiet():
            assert explain(frame, scenario=scenario, row=1).sharing == 2


def test_one_record_and_identical_ones():
    with quiet():
        one = explain(FRAME.head(1), keys=KEYS)
        same = explain(pl.DataFrame({"a": [1, 1], "b": [1, 1]}), keys=["a", "b"], row=2)
    assert (one.sharing, one.key_sets) == (1, ((),))
    assert one.notes["key_sets"] == "the file has one record: it is alone without any key"
    assert str(one) == "The file has no other record. No single change of one key ends it."
    assert same.sharing == 2


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"row": 0}, DataError, "row counts records .*from 1 to 6"),
        ({"row": 7}, DataError, "row counts records .*from 1 to 6"),
        ({"row": "p"}, DataError, "give id= too"),
        ({"row": True}, DataError, "row counts"),
        ({"row": "z", "id": "id"}, DataError, "no record has the value given"),
        ({"row": "z", "id": "di"}, ColumnError, "no column 'di'"),
        ({"row": 1, "max_size": 0}, DataError, "max_size counts the keys"),
        ({"row": 1, "max_size": True}, DataError, "max_size counts the keys"),
    ],
)
def test_bad_input(arguments, error, message):
    with pytest.raises(error, match=message):
        explain(FRAME, keys=KEYS, **arguments)


def test_plans_without_id_and_persons():
    with pytest.raises(DataError, match="a plan has no row numbers"):
        explain(FRAME.lazy(), keys=KEYS)
    with pytest.raises(DataError, match="distinct persons cannot be counted from cells"):
        explain(FRAME, scenario=Scenario(keys=["sex"], person="id"))


def test_more_keys_than_a_word_has_bits_and_many_records():
    wide = pl.DataFrame({f"k{j}": [j % 2, 1] for j in range(65)})
    with quiet(), pytest.raises(DataError, match="by 64 keys at most, not 65"):
        explain(wide, keys=wide.columns)
    rng = np.random.default_rng(0)
    many = pl.DataFrame({f"k{j}": rng.integers(0, 4, 20_000) for j in range(20)})
    result = explain(many, keys=many.columns, max_size=4)
    for one in result.key_sets:
        values = [many[key][0] for key in one]
        same = many.filter(pl.all_horizontal(pl.col(k) == v for k, v in zip(one, values, strict=True)))
        assert same.height == 1


# Minimal sets against trying every subset.


@given(st.lists(st.integers(0, 31), max_size=12), st.integers(1, 5))
def test_agrees_with_every_subset(disagree, max_size):
    bits = lambda one: sum(1 << j for j in one)  # noqa: E731
    meets = [one for size in range(6) for one in combinations(range(5), size) if all(bits(one) & d for d in disagree)]
    expected = [one for one in meets if not any(set(other) < set(one) for other in meets) and len(one) <= max_size]
    found, searched = minimal_sets(disagree, 5, max_size)
    assert sorted(found) == sorted(expected)
    assert [len(one) for one in found] == sorted(len(one) for one in found)
    assert searched == max_size


def test_it_stops_where_there_are_too_many_sets(monkeypatch):
    assert minimal_sets([1 << 63], 64, 1) == ([(63,)], 1)  # the highest bit of a word
    monkeypatch.setattr(module, "MOST_SETS", 3)
    assert minimal_sets([0b001, 0b110], 3, 3) == ([(0, 1), (0, 2)], 3)
    assert minimal_sets([0b0011, 0b1100], 4, 4) == ([], 0)
