"""Keyed digests: HMAC to the letter, and nothing of them without the key."""

from __future__ import annotations

import hmac
from datetime import date, datetime

import narwhals.stable.v2 as nw
import numpy as np
import polars as pl
import pytest

from sdckit.data.columns import code_column
from sdckit.data.ledger.digests import (
    WIDTH,
    Digester,
    Levels,
    Part,
    Sketch,
    canonical,
    coded_parts,
    codes_of,
    places,
    sorted_part,
    starts,
)

COLUMN = Levels("sex", np.array([1, 2, 1, 0], np.int32), ("f", "m"))


def test_digests_are_the_hmac_of_the_standard_library() -> None:
    digester = Digester(b"k" * 32)
    key = hmac.digest(b"k" * 32, b"sdckit ledger: digests", "sha256")
    _, female, _ = digester.levels(COLUMN)
    assert bytes(female) == hmac.digest(key, b"value\x003\x00sex" + b"=f", "sha256")[:WIDTH]
    (pair,) = digester.combinations([(digester.levels(COLUMN), np.array([1], np.int32))] * 2, 1)
    assert bytes(pair) == hmac.digest(key, b"combination\x000\x00" + bytes(female) * 2, "sha256")[:WIDTH]


def test_a_missing_value_is_none_that_can_be_written() -> None:
    digester = Digester(b"k" * 32)
    words = Levels("sex", np.zeros(0, np.int32), ("missing", ""))
    missing, *others = map(bytes, digester.levels(words))
    assert missing not in others


def test_the_same_value_of_another_column_or_under_another_key_is_another() -> None:
    other = Levels("age", COLUMN.codes, COLUMN.texts)
    found = {bytes(one) for name in (COLUMN, other) for key in (b"k", b"l") for one in Digester(key * 32).levels(name)}
    assert len(found) == 12


def test_keys_of_purposes_differ_and_the_stream_depends_on_the_nonce() -> None:
    digester = Digester(b"k" * 32)
    assert len({digester.purpose(one) for one in (b"digests", b"seal", b"stream", b"check")}) == 4
    assert bytes(digester.stream(b"1", 40)) != bytes(digester.stream(b"2", 40))
    assert bytes(digester.stream(b"1", 40)) == bytes(digester.stream(b"1", 80)[:40])
    assert digester.check("a") != digester.check("b")
    assert digester.check("a") != Digester(b"l" * 32).check("a")


def test_places_compare_every_byte() -> None:
    rng = np.random.default_rng(1)
    among = rng.integers(0, 256, (50, WIDTH), dtype=np.uint8)
    among = among[np.argsort(starts(among))]
    wanted = among[[7, 3]].copy()
    wanted[1, -1] ^= 1
    assert places(among, wanted).tolist() == [7, -1]
    assert places(among[:0], wanted).tolist() == [-1, -1]
    assert places(among, wanted[:0]).tolist() == []


# The one form of a value, whatever file it comes from.


def told(values: object, dtype: object = None) -> list[str | None]:
    series = pl.Series("a", values, dtype)  # type: ignore[arg-type]
    found = canonical(code_column(nw.from_native(series, series_only=True)))
    return [None if code == 0 else found.texts[code - 1] for code in found.codes]


@pytest.mark.parametrize(
    "values", [[1, 2, None], [1.0, 2.0, None], ["1", "2", None]], ids=["integer", "number", "text"]
)
def test_one_value_has_one_text_in_every_type_of_storage(values: list[object]) -> None:
    assert told(values) == ["1", "2", None]


def test_categories_and_decimals_are_their_values() -> None:
    assert told(["x", "y", "x"], pl.Categorical) == ["x", "y", "x"]
    assert told([1.5, 2.0], pl.Decimal(10, 2)) == ["1.5", "2"]


def test_a_day_is_a_day_with_and_without_a_time() -> None:
    assert told([date(2024, 5, 1)]) == told([datetime(2024, 5, 1)]) == ["2024-05-01"]


def test_texts_that_differ_stay_apart() -> None:
    assert told(["01", "1", "1.0"]) == ["01", "1", "1.0"]


def test_wide_numbers_are_numbered_by_those_in_use() -> None:
    assert told([10**12, 5, 10**12]) == ["1000000000000", "5", "1000000000000"]


def test_counts_begin_with_the_missing_ones() -> None:
    series = nw.from_native(pl.Series("a", ["x", None, "y", "y"]), series_only=True)
    found = canonical(code_column(series))
    assert isinstance(found, Levels)
    assert found.counts().tolist() == [1, 1, 2]


# Parts of a sketch: found by digest, in any order they were made.


DIGESTS = np.random.default_rng(3).integers(0, 256, (20, WIDTH), dtype=np.uint8)


def test_a_part_gives_the_number_of_each_digest_and_0_for_others() -> None:
    part, place = sorted_part(DIGESTS[:10], np.arange(1, 11))
    assert part.of(DIGESTS[:12]).tolist() == [*range(1, 11), 0, 0]
    assert (part.digests[place] == DIGESTS[:10]).all()
    assert part.total == 55


def test_an_empty_part_has_nothing() -> None:
    part = Part(DIGESTS[:0], np.zeros(0, np.uint32))
    assert part.of(DIGESTS[:2]).tolist() == [0, 0]
    assert part.total == 0


def test_parts_are_found_by_kind_and_columns() -> None:
    part, _ = sorted_part(DIGESTS[:1], np.ones(1))
    sketch = Sketch({("counts", "b"): part, ("counts", "a", "b"): part, ("people", "id", "a", "b"): part})
    assert sketch.named("counts") == [("b",), ("a", "b")]
    assert sketch.get("counts", ("b",)) is part
    assert sketch.get("people", ("b",)) is None


def test_codes_of_any_number_of_columns_come_back() -> None:
    rng = np.random.default_rng(5)
    for n in (1, 4, 5, 6, 11):
        columns = [f"c{at}" for at in range(n)]
        codes = [rng.integers(0, 1 << 32, 7) for _ in columns]
        sketch = Sketch(coded_parts(columns, codes))
        found = codes_of(sketch, columns)
        assert found is not None
        assert [column.tolist() for column in found] == [column.tolist() for column in codes]
        assert codes_of(sketch, [*columns[:-1], "other"]) is None
