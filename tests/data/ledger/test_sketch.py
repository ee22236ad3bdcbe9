"""Parts of a sketch: found by digest, in any order they were made."""

from __future__ import annotations

import numpy as np

from sdckit.data.ledger.digests import WIDTH
from sdckit.data.ledger.sketch import Part, Sketch, sorted_part

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


def test_the_widest_set_comes_first() -> None:
    part, _ = sorted_part(DIGESTS[:1], np.ones(1))
    sketch = Sketch(
        {("counts", "b"): part, ("counts", "a", "b"): part, ("people", "id", "a", "b", "c"): part}
    )
    assert sketch.sets() == [("a", "b"), ("b",)]
    assert sketch.get("counts", ("b",)) is part
    assert sketch.get("candidates", ("b",)) is None
