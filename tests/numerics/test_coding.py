"""Ranges, packing and string codes against plain Python; compiled kernels against their own source."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import ways
from draw import CHARACTERS
from sdckit.numerics import coding
from sdckit.numerics.coding import BLOCK, code_views, float_range, float_to_int, integer_range, pack_into

ALL = np.empty(0, np.uint8)
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@pytest.fixture(params=["few", "many"], autouse=True)
def way(request, monkeypatch):
    """Few rows, for NumPy, and many, for kernels."""
    ways.take(monkeypatch, few=request.param == "few")


def bits(flags):
    return np.array(flags, np.uint8)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_range_reaches_the_ends_of_the_type(dtype):
    info = np.iinfo(dtype)
    values = np.array([5, info.max, info.min, 7], dtype)
    assert integer_range(values, ALL) == (info.min, info.max, 4)
    assert integer_range(values, bits([1, 0, 0, 1])) == (5, 7, 2)


def test_a_range_of_nothing():
    assert integer_range(np.empty(0, np.int64), ALL) == (0, -1, 0)
    assert integer_range(np.array([3, 4]), bits([0, 0])) == (0, -1, 0)


def test_a_range_of_floats():
    values = np.array([2.0, np.nan, -3.0, 8.5])
    assert float_range(values, ALL) == (-3.0, 8.5, 3, False)
    assert float_range(values, bits([1, 1, 1, 0])) == (-3.0, 2.0, 2, True)
    assert float_range(np.array([np.nan]), ALL)[2] == 0


def test_floats_become_integers():
    values = np.array([2.0, np.nan, -3.0, 9.0])
    out, present = float_to_int(values, bits([1, 1, 1, 0]), whole=True)
    assert out.tolist() == [2, 0, -3, 0]
    assert present.tolist() == [1, 0, 1, 0]
    assert float_to_int(values, ALL, whole=False)[0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_packing_takes_every_type(dtype):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min + 3, info.min + 1], dtype)
    words = np.empty(3, np.uint64)
    low = int(info.min)
    pack_into(words, [(values, ALL, low, 4, 0), (values, bits([1, 0, 1]), low, 4, 5)])
    assert words.tolist() == [0, 3 | 4 << 5, 1 | 1 << 5]


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK + 1, 3 * BLOCK + 17])
def test_packing_goes_through_every_block(n):
    rng = np.random.default_rng(1)
    a, b = rng.integers(-5, 6, n), rng.integers(0, 7, n).astype(np.uint8)
    valid = rng.integers(0, 2, n).astype(np.uint8)
    words = np.empty(n, np.uint64)
    pack_into(words, [(a, ALL, -5, 11, 3), (b, valid, 0, 7, 40)])
    expected = (a + 5).astype(np.uint64) << np.uint64(3)
    expected |= np.where(valid, b, 7).astype(np.uint64) << np.uint64(40)
    assert (words == expected).all()


def views(texts):
    """Arrow's views of short strings: the length in four bytes, then the bytes, padded with zeros."""
    raw = [text.encode() for text in texts]
    packed = b"".join(len(one).to_bytes(4, "little") + one[:12].ljust(12, b"\0") for one in raw)
    return np.frombuffer(packed, np.uint64).reshape(-1, 2)


@given(st.lists(st.one_of(st.none(), st.text(CHARACTERS, max_size=3)), max_size=60))
def test_strings_are_numbered_as_they_appear(texts):
    texts = [text if text is None or len(text.encode()) <= 12 else "" for text in texts]
    valid = bits([text is not None for text in texts])
    found = code_views(views(["" if text is None else text for text in texts]), valid)
    assert found is not None
    codes, first = found
    levels = list(dict.fromkeys(text for text in texts if text is not None))
    assert [texts[row] for row in first] == levels
    assert [levels[code] for code, text in zip(codes, texts, strict=True) if text is not None] == [
        text for text in texts if text is not None
    ]


def test_texts_are_numbered_alike_whatever_their_number(monkeypatch):
    rng = np.random.default_rng(5)
    texts = views([f"t{i}" for i in rng.integers(0, 900, 4000)])
    valid = (rng.random(4000) < 0.9).astype(np.uint8)
    found = []
    for few in (True, False):
        ways.take(monkeypatch, few=few)
        codes, first = code_views(texts, valid)
        assert (codes.dtype, first.dtype) == (np.uint32, np.int64)
        found.append((codes.tolist(), first.tolist()))
    assert found[0] == found[1]


def test_the_table_grows():
    texts = [f"t{i}" for i in range(5000)] * 2
    codes, first = code_views(views(texts), ALL)
    assert codes.tolist() == [*range(5000), *range(5000)]
    assert first.tolist() == list(range(5000))


def test_a_long_string_is_refused_unless_missing():
    texts = ["a", "b" * 13]
    assert code_views(views(texts), ALL) is None
    assert code_views(views(texts), bits([1, 0])) is not None
    assert code_views(views(["a", "b" * 12]), ALL) is not None


def test_a_string_of_another_length_is_another_level():
    codes, _ = code_views(views(["a", "a\0", "", "a"]), ALL)
    assert codes.tolist() == [0, 1, 2, 0]


@given(st.lists(st.tuples(st.integers(-100, 100), st.booleans()), min_size=1, max_size=30))
def test_compiled_kernels_do_what_their_source_says(pairs):
    values = np.array([value for value, _ in pairs])
    valid = bits([flag for _, flag in pairs])
    low, missing = np.uint64(-100 & 0xFFFFFFFFFFFFFFFF), np.uint64(201)
    words = [np.zeros(len(values), np.uint64) for _ in range(2)]
    with np.errstate(over="ignore"):
        for function, out in zip((coding._pack, coding._pack.py_func), words, strict=True):
            function(values, valid, low, missing, np.uint64(4), True, out)
    assert (words[0] == words[1]).all()
    assert coding._integer_range(values, valid) == coding._integer_range.py_func(values, valid)
    floats = np.where(values % 7 == 0, np.nan, values / 2)
    assert coding._float_range(floats, valid) == coding._float_range.py_func(floats, valid)
    outs = [(np.empty(len(values), np.int64), np.empty(len(values), np.uint8)) for _ in range(2)]
    coding._float_to_int(floats, valid, False, *outs[0])
    coding._float_to_int.py_func(floats, valid, False, *outs[1])
    assert all((one == two).all() for one, two in zip(*outs, strict=True))
