"""Hashes by hand, tables that find every word, and bit sets; compiled and as Python."""

from __future__ import annotations

import numpy as np
import pytest

from sdckit.numerics import coding as hashing
from sdckit.numerics.coding import GOLDEN, find_number, find_word, has_bit, hash_rows, hash_word, mix, set_bit

WORD = 2**64 - 1
FORMS = pytest.mark.parametrize("form", [lambda f: f, lambda f: f.py_func], ids=["compiled", "python"])


@pytest.fixture(autouse=True)
def products_wrap():
    with np.errstate(over="ignore"):  # NumPy's single numbers warn where compiled ones do not
        yield


def mixed(word, *, first=1):
    word = word * first & WORD
    product = (word ^ word >> 32) * int(GOLDEN) & WORD
    return product ^ product >> 29


@FORMS
@pytest.mark.parametrize("word", [0, 1, 977, 1 << 40, WORD])
def test_hashes_in_whole_numbers(form, word):
    given = np.uint64(word)
    assert int(form(hashing.spread)(given, np.uint64(5))) == (word ^ word >> 32) * 5 & WORD
    assert int(form(mix)(given)) == mixed(word)
    assert int(form(hash_word)(given)) == mixed(word, first=int(hashing.FACTOR))


def test_many_words_are_hashed_as_one_is():
    words = np.random.default_rng(3).integers(0, WORD, 50, np.uint64, endpoint=True)
    assert hashing.hash_words(words).tolist() == [int(hash_word(word)) for word in words]


@FORMS
def test_splitmix_as_published(form):
    # the first three numbers of the generator with the seed 1234567, printed by its authors' program
    states = np.uint64(1234567) + GOLDEN * np.arange(1, 4, dtype=np.uint64)
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert form(hashing.splitmix)(states).tolist() == published
    assert [int(form(hashing.splitmix)(state)) for state in states] == published


@FORMS
def test_bits_of_a_set(form):
    bits, there = np.zeros(2, np.uint64), [0, 5, 63, 64, 127]
    for at in there:
        form(set_bit)(bits, np.uint64(at))
    assert [at for at in range(128) if form(has_bit)(bits, np.uint64(at))] == there


@FORMS
def test_every_word_is_found_where_it_was_put(form):
    rng = np.random.default_rng(4)
    words = rng.permutation(np.arange(1, 61, dtype=np.uint64))
    slots, keys, free = np.full(64, -1, np.int32), np.zeros(64, np.uint64), np.uint64(0)
    for number, word in enumerate(words):
        for _ in range(2):  # nearly full, with one hash for four words
            at = form(find_number)(slots, words, word, word // np.uint64(4))
            assert slots[at] in (-1, number)
            slots[at] = number
            at = form(find_word)(keys, free, word, word // np.uint64(4))
            assert keys[at] in (free, word)
            keys[at] = word
    assert sorted(slots[slots >= 0].tolist()) == list(range(60))
    assert sorted(keys[keys > 0].tolist()) == list(range(1, 61))


def test_rows_that_differ_anywhere_get_different_words():
    grid = np.array([(a, b, c) for a in range(20) for b in range(20) for c in range(20)], np.uint64)
    words = hash_rows(grid.T, len(grid))
    assert len(np.unique(words)) == len(grid)
    assert (hash_rows(grid[:5].T, 5) == words[:5]).all()
    assert hash_rows([], 3).tolist() == [0, 0, 0]
