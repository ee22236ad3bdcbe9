"""The similarity of texts on workers."""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from sdckit.attacks.linkage.linkage_engines import similarity_for_workers

COMPARE = similarity_for_workers()


def test_slices_missing_and_empty_texts() -> None:
    left = pa.array(["xxx", "martha", None, "", "a"]).slice(1)
    right = pa.array(["marhta", "a", "b", None])
    assert COMPARE(left, right).to_pylist() == [pytest.approx(0.9611111), None, 0.0, None]
    assert COMPARE(left.slice(0, 0), right.slice(0, 0)).to_pylist() == []
    nothing = pa.array(["", "", None])
    assert COMPARE(nothing, nothing).to_pylist() == [0.0, 0.0, None]


# The similarity of texts: DuckDB's figures to the last bit, and textbook values.


RNG = np.random.default_rng(8)
N_PAIRS = 4200  # more than are compared at a time
ALPHABETS = {
    "short": ("ab", 0, 4),
    "words": ("abcdefgh", 1, 12),
    "long": ("abcdefgh ", 50, 150),
    "foreign": ("aéñb☃𝄞", 0, 9),
}


def texts(n: int, letters: str, least: int, most: int) -> list[str]:
    return ["".join(RNG.choice(list(letters), RNG.integers(least, most + 1))) for _ in range(n)]


def slipped(text: str, k: int) -> str:
    half = len(text) // 2
    return [text[1:2] + text[:1] + text[2:], text[:half] + text[half + 1 :], "a" + text, text[:-1] + "b"][k % 4]


@pytest.mark.parametrize("kind", ALPHABETS)
def test_duckdb_says_the_same(kind):
    left = texts(N_PAIRS, *ALPHABETS[kind])
    right = [slipped(text, k) if k % 5 else other
             for k, (text, other) in enumerate(zip(left, texts(N_PAIRS, *ALPHABETS[kind]), strict=True))]  # fmt: skip
    pairs = pa.table({"a": left, "b": right})
    found = COMPARE(pairs["a"].combine_chunks(), pairs["b"].combine_chunks())
    expected = duckdb.connect().from_arrow(pairs).project("jaro_winkler_similarity(a, b) as s").to_arrow_table()
    limits = np.array([0.8, 0.92])[:, None]
    assert np.abs(found.to_numpy() - expected["s"].to_numpy()).max() < 1e-14
    assert ((found.to_numpy() >= limits) == (expected["s"].to_numpy() >= limits)).all()


def test_winklers_examples():
    left, right = ["dwayne", "dixon", "jellyfish", "jones"], ["duane", "dicksonx", "smellyfish", "johnson"]
    found = COMPARE(pa.array(left), pa.array(right)).to_pylist()
    assert found == pytest.approx([0.84, 0.8133, 0.8963, 0.8324], abs=5e-5)
