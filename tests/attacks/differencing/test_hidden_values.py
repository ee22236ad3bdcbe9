"""Values hidden in one release and shown in the other."""

from __future__ import annotations

import numpy as np
import polars as pl

from attacks.differencing.several import KEYS, people, with_gaps
from sdckit.attacks.differencing.earlier_releases import Earlier
from sdckit.attacks.differencing.hidden_values import shown_by_id, shown_by_link, shown_by_match
from sdckit.attacks.differencing.opened_release import OpenedRelease, open_release
from sdckit.attacks.differencing.sketching import sketch_release
from sdckit.data.ledger.digests import Digester

DIGESTER = Digester(b"k" * 32)
ALL = [*KEYS, "job"]


def opened(data: pl.DataFrame) -> OpenedRelease:
    return open_release(data, ALL, id=None, name="it", role="keys")


def matched(new: pl.DataFrame, old: pl.DataFrame) -> tuple[list[int], list[int]]:
    sketch = sketch_release(opened(old), [KEYS], ["job"], DIGESTER)
    back, bare = shown_by_match(opened(new), Earlier("old", "", True, sketch, DIGESTER), ALL)
    return np.flatnonzero(back["age"]).tolist(), np.flatnonzero(bare["age"]).tolist()


def alone_but_for_age(*files: pl.DataFrame) -> list[bool]:
    rest = ["region", "sex", "job"]
    flags = [one.select(pl.len().over(rest) == 1).to_series().to_list() for one in files]
    return [all(one) for one in zip(*flags, strict=True)]


def test_linked_rows_are_compared_value_by_value() -> None:
    old = people(50)
    new = with_gaps(old, "age", 0.2)
    rows = np.where(np.arange(50) < 40, np.arange(50), -1)
    back, bare = shown_by_link(opened(new), opened(old), rows)
    gone = new["age"].is_null().to_numpy()
    assert back["age"].tolist() == (gone & (rows >= 0)).tolist()
    assert not bare["age"].any()
    back, bare = shown_by_link(opened(old), opened(new), rows)
    assert bare["age"].tolist() == (gone & (rows >= 0)).tolist()
    assert not back["age"].any()


def test_without_a_link_those_alone_in_both_are_found_in_both_directions() -> None:
    old = people(60)
    new = with_gaps(old, "age", 0.3)
    expected = [
        row for row, (alone, gone) in enumerate(zip(alone_but_for_age(old, new), new["age"].is_null(), strict=True))
        if alone and gone
    ]  # fmt: skip
    assert len(expected) > 2
    assert matched(new, old) == (expected, [])
    assert matched(old, new) == ([], expected)


def test_values_hidden_in_both_are_told_by_neither() -> None:
    new = with_gaps(people(60), "age", 0.3)
    assert matched(new, new) == ([], [])


def test_ids_of_a_ledger_find_every_single_hidden_key_in_both_directions() -> None:
    old = people(300)
    new = with_gaps(old, "age", 0.2)
    gone = new["age"].is_null().to_list()
    found = []
    for here, there in ((new, old), (old, new)):
        files = [open_release(one, ALL, id="id", name="it", role="keys") for one in (here, there)]
        sketch = sketch_release(files[1], [KEYS], ["job"], DIGESTER, id="id")
        back, bare = shown_by_id(files[0], Earlier("old", "", True, sketch, DIGESTER), "id", ALL)
        found.append((back["age"].tolist(), bare["age"].tolist()))
        assert not back["sex"].any()
        assert not bare["sex"].any()
    nothing = [False] * 300
    assert found == [(gone, nothing), (nothing, gone)]


def test_ids_tell_nothing_where_another_key_changed_too() -> None:
    old = people(100)
    new = with_gaps(old, "age", 0.2).with_columns(sex=pl.lit("f"))
    files = [open_release(one, ALL, id="id", name="it", role="keys") for one in (new, old)]
    sketch = sketch_release(files[1], [KEYS], ["job"], DIGESTER, id="id")
    back, _ = shown_by_id(files[0], Earlier("old", "", True, sketch, DIGESTER), "id", ALL)
    assert back["age"].tolist() == (new["age"].is_null() & (old["sex"] == "f")).to_list()
