"""What a sketch holds: counts that are those of the file, and no more sets than are worth it."""

from __future__ import annotations

import polars as pl
import pytest

from attacks.differencing.several import KEYS, people, with_gaps
from sdckit.attacks.differencing import sketching
from sdckit.attacks.differencing.opened_release import OpenedRelease, open_release
from sdckit.attacks.differencing.sketching import sketch_release
from sdckit.data.ledger.digests import Digester

DIGESTER = Digester(b"k" * 32)
DATA = with_gaps(people(), "job", 0.05)


def opened() -> OpenedRelease:
    return open_release(DATA, [*KEYS, "job"], id="id", name="it", role="keys")


def test_counts_are_those_of_the_file() -> None:
    release = opened()
    sketch = sketch_release(release, [KEYS], ["job"], DIGESTER)
    assert {place[0] for place in sketch.parts} == {"counts"}
    assert len(sketch.parts) == 4 + 6 + 4 + 1  # singles, pairs, triples (one of them the keys), all
    for place, part in sketch.parts.items():
        columns = list(place[1:])
        found = part.of(release.digests(columns, DIGESTER))
        assert (found == release.combinations(columns).size).all()
        assert sorted(part.numbers.tolist()) == sorted(DATA.group_by(columns).len()["len"].to_list())


def test_with_an_id_every_person_has_a_combination_and_it_its_values() -> None:
    release = opened()
    sketch = sketch_release(release, [KEYS, ["sex"]], ["job"], DIGESTER, id="id")
    people_of = sketch.parts["people", "id", "sex"]
    counts = sketch.parts["counts", "sex"]
    at = people_of.of(release.id_digests(DIGESTER))
    assert (counts.numbers[at] == DATA.select(pl.len().over("sex")).to_series().to_numpy()).all()
    assert ("people", "id", *sorted(KEYS)) in sketch.parts
    # a hidden job may be any: every level is possible for both sexes, and one that was never seen, too
    assert sketch.parts["candidates", "sex", "job"].numbers.tolist() == [7] * (2 * 7 + 2)


def test_sets_that_are_not_needed_are_left_out_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketching, "MOST_DIGESTS", 10)
    sketch = sketch_release(opened(), [KEYS], ["job"], DIGESTER)
    kept = {place[1:] for place in sketch.parts}
    assert kept == {
        ("age",),
        ("job",),
        ("region",),
        ("sex",),
        tuple(sorted(KEYS)),
        tuple(sorted([*KEYS, "job"])),
    }
