"""A release opened: its combinations and their digests."""

from __future__ import annotations

import polars as pl
import pytest

from attacks.differencing.several import KEYS, people, with_gaps
from sdckit.attacks.differencing.opened_release import OpenedRelease, open_release
from sdckit.data.ledger.digests import Digester
from sdckit.errors import ColumnError, DataError

DATA = with_gaps(people(), "age", 0.1)
DIGESTER = Digester(b"k" * 32)


def opened(data: pl.DataFrame = DATA, id: str | None = None) -> OpenedRelease:
    return open_release(data, [*KEYS, "job"], id=id, name="the release", role="keys")


def test_combinations_are_those_of_the_file_and_in_the_order_of_names() -> None:
    found = opened().combinations(["sex", "age"])
    assert found.columns == ("age", "sex")
    counted = DATA.group_by("age", "sex").len()
    assert sorted(found.size.tolist()) == sorted(counted["len"].to_list())
    assert (found.size[found.of_row] == DATA.select(pl.len().over("age", "sex")).to_series().to_numpy()).all()


def test_combinations_of_fewer_columns_follow_from_those_of_all() -> None:
    release = opened()
    for columns in (["sex"], ["age", "job"]):
        few = release.whole.among(sorted(columns))
        assert few.size.tolist() == release.combinations(columns).size.tolist()
        assert (few.of_row[release.whole.of_row] == release.combinations(columns).of_row).all()


def test_digests_do_not_depend_on_the_order_of_records_columns_or_types() -> None:
    other = DATA.sample(fraction=1.0, shuffle=True, seed=1).with_columns(pl.col("region").cast(pl.Float64))
    first, second = opened(), opened(other.select(reversed(other.columns)))
    assert {bytes(one) for one in first.digests(KEYS, DIGESTER)} == {
        bytes(one) for one in second.digests(KEYS, DIGESTER)
    }
    assert first.digests(KEYS, DIGESTER) is first.digests(KEYS[::-1], DIGESTER)


def test_ids_have_a_digest_each() -> None:
    assert len({bytes(one) for one in opened(id="id").id_digests(DIGESTER)}) == DATA.height


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(ColumnError, match="keys: no column 'sexx' in the data; did you mean 'sex'"):
        open_release(DATA, ["sexx"], id=None, name="it", role="keys")
    with pytest.raises(DataError, match="the release: several records share a value of the id"):
        opened(id="sex")
    with pytest.raises(DataError, match="several records share a value of the id, or have none"):
        opened(with_gaps(DATA, "id", 0.01), id="id")
    with pytest.raises(DataError, match="no records"):
        opened(DATA.head(0))
