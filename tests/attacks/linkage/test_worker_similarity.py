"""The similarity of texts on workers: the kernel's figures to the last bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sdckit.attacks.linkage.jaro_winkler import jaro_winkler
from sdckit.attacks.linkage.worker_similarity import similarity_for_workers

COMPARE = similarity_for_workers()


@pytest.mark.parametrize(
    ("letters", "least", "most", "n"),
    [("ab", 0, 4, 9000), ("abcdefgh", 1, 12, 9000), ("abcdefgh ", 50, 150, 300), ("aéñb☃𝄞", 0, 9, 3000)],
)
def test_as_the_kernel(letters: str, least: int, most: int, n: int) -> None:
    rng = np.random.default_rng(8)

    def text() -> str:
        return "".join(rng.choice(list(letters), rng.integers(least, most + 1)))

    left = [text() for _ in range(n)]
    right = [one[1:2] + one[:1] + one[2:] if rng.random() < 0.6 else text() for one in left]
    pairs = pa.array(left), pa.array(right)
    assert COMPARE(*pairs).equals(jaro_winkler(*pairs))


def test_slices_missing_and_empty_texts() -> None:
    left = pa.array(["xxx", "martha", None, "", "a"]).slice(1)
    right = pa.array(["marhta", "a", "b", None])
    assert COMPARE(left, right).to_pylist() == [pytest.approx(0.9611111), None, 0.0, None]
    assert COMPARE(left.slice(0, 0), right.slice(0, 0)).to_pylist() == []
    nothing = pa.array(["", "", None])
    assert COMPARE(nothing, nothing).to_pylist() == [0.0, 0.0, None]
