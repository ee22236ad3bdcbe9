"""The rules in turn, until they say nothing new."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given, settings, strategies as st

from attacks.recovery.made import blanked, read, released, survey
from sdckit.attacks.recovery.recovered import _orders, recover
from sdckit.attacks.recovery.touched_cells import by_original


def recovered(hidden, whole, **given_):
    columns = read(hidden)
    return recover(columns, by_original(columns, read(whole)), household=None, **given_)


def test_a_chain_of_columns_is_followed():
    """a tells b where b is missing; b tells c where c is missing, and a does not tell c."""
    rng = np.random.default_rng(1)
    a = rng.integers(0, 90, 3000)
    b = a % 30
    whole = pl.DataFrame(
        {"a": a, "b": [f"b{one}" for one in b], "c": [f"c{one}" for one in rng.permutation(30)[b] % 7]}
    )
    gone = pl.int_range(3000) < 300
    hidden = whole.with_columns(
        b=pl.when(gone).then(None).otherwise("b"), c=pl.when(gone).then(None).otherwise("c"),
        a=pl.when((pl.int_range(3000) % 2 == 0) & ~gone).then(None).otherwise("a"),
    )  # fmt: skip
    found = recovered(hidden, whole)
    assert found["b"].restored.sum() == 300
    assert found["c"].restored.sum() == 300


def test_every_value_has_one_source():
    data = survey(500)
    hidden = released(data)
    columns = read(hidden)
    found = recover(columns, by_original(columns, read(data)), household="home")
    for one in found.values():
        assert ((one.source >= 0) == one.restored).all()
        assert one.source.max() < len(one.sources)
        assert not (one.restored & one.narrowed).any()
        assert not (one.restored & ~one.target.touched).any()
        if one.values is not None:
            assert np.isfinite(one.values[one.restored]).all()
        else:
            assert (one.codes[one.restored] > 0).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_the_order_of_the_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 50, 800)
    whole = pl.DataFrame(
        {"a": a, "x": [f"v{one % 7}" for one in a], "y": 3 * a + 2, "z": rng.integers(0, 9, 800)}
    )
    hidden = blanked(whole, ["x", "y"], 0.1, seed)
    one = recovered(hidden, whole)
    order = list(rng.permutation(whole.columns))
    two = recovered(hidden.select(order), whole.select(order))
    assert set(one) == set(two)
    for name in one:
        assert (one[name].restored == two[name].restored).all()
        assert one[name].restored.sum() == one[name].target.touched.sum()


def test_orders_are_those_of_columns_that_number_the_records():
    data = pl.DataFrame({"id": [3, 1, 2, None], "name": ["d", "a", "c", "b"], "few": [1, 1, 1, 1]})
    found = _orders(read(data))
    assert set(found) == {"the order of the rows", "the order by id", "the order by name"}
    assert found["the order by name"].tolist() == [1, 3, 2, 0]
    assert found["the order by id"][:3].tolist() == [1, 2, 0]


def test_without_pairs():
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 8, (2, 3000))
    whole = pl.DataFrame({"a": a, "b": b, "x": [f"v{one}" for one in (3 * a + 5 * b) % 7]})
    hidden = blanked(whole, ["x"])
    assert recovered(hidden, whole)["x"].restored.any()
    assert not recovered(hidden, whole, pairs=False)["x"].restored.any()
