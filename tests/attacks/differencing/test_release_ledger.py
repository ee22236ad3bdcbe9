"""The ledger as people use it, and what it tells somebody who has not its key."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

import sdckit as sdc
from attacks.differencing.several import KEYS, people, possible, with_gaps
from sdckit.attacks.differencing.release_ledger import (
    Earlier,
    OpenedRelease,
    candidate_sets,
    comparable_columns,
    every_level,
    key_sets,
    n_candidates,
    open_release,
    set_members,
    sketch_release,
)
from sdckit.data.ledger.digests import Digester, codes_of, places
from sdckit.data.ledger.ledger_file import make_key
from sdckit.errors import ColumnError, DataError

DATA = people(200)


def ledger_in(folder: Path, name: str = "ledger") -> sdc.ReleaseLedger:
    return sdc.ReleaseLedger.create(folder / name, key=folder / f"{name}.key", survey="Survey")


def test_what_is_added_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    made = ledger_in(tmp_path).add(DATA, name="first", keys=KEYS, sensitive="job", date="2024", people="wave 1")
    again = sdc.ReleaseLedger.open(tmp_path / "ledger", key=tmp_path / "ledger.key", survey="Survey")
    assert made.entries == again.entries
    (entry,) = again.entries
    assert (entry.name, entry.date, entry.people) == ("first", "2024", "wave 1")
    assert set(entry.columns) == {*KEYS, "job"}
    assert repr(again) == "ReleaseLedger(survey='Survey', 1 release)"


def test_a_scenario_gives_the_keys_of_every_intruder(tmp_path: Path) -> None:
    scenario = sdc.Scenario(intruders={"a": ["sex", "age"], "b": ["region"]}, sensitive=["job"])
    (entry,) = ledger_in(tmp_path).add(DATA, name="first", scenario=scenario, id="id").entries
    assert {place[1:] for place in entry.sets if place[0] == "keys"} == {("sex", "age"), ("region",)}
    assert ("ids", "id", "age", "job", "region", "sex") in entry.sets


def test_no_value_and_no_id_stands_in_its_files(tmp_path: Path) -> None:
    marked = DATA.with_columns(job=pl.when(pl.int_range(200) == 5).then(pl.lit("zzmarkzz")).otherwise("job"),
                               id=pl.col("id") + 987_650_000)  # fmt: skip
    ledger_in(tmp_path).add(marked, name="first", keys=KEYS, sensitive=["job"], id="id")
    for file in (tmp_path / "ledger").iterdir():
        raw = file.read_bytes()
        assert b"zzmarkzz" not in raw
        assert b"98765" not in raw


def test_it_does_not_say_whether_a_person_is_in_it_without_the_key(tmp_path: Path) -> None:
    """Whoever tries every person there could be, under a key of their own and as the file has them, finds nobody."""
    ledger_in(tmp_path).add(DATA, name="first", keys=KEYS)
    ledger = sdc.ReleaseLedger.open(tmp_path / "ledger", key=tmp_path / "ledger.key")
    (entry,) = ledger.entries
    everybody = pl.DataFrame(list(product(range(6), ["f", "m"], range(8))), schema=KEYS, orient="row")
    domain = open_release(everybody, KEYS, id=None, name="domain", role="keys")
    right = Digester((tmp_path / "ledger.key").read_bytes() and bytes.fromhex((tmp_path / "ledger.key").read_text()))
    wrong = Digester(make_key(tmp_path / "guess.key"))
    n = DATA.n_unique(KEYS)
    part = ledger._file.read(entry).get("counts", sorted(KEYS))
    assert part is not None
    assert (part.of(domain.digests_of(domain.combinations(KEYS), right)) > 0).sum() == n  # the key answers
    assert (part.of(domain.digests_of(domain.combinations(KEYS), wrong)) > 0).sum() == 0  # even opened digests need it
    sealed = {one[:16] for one in pq.read_table(tmp_path / "ledger" / entry.file)["sealed"].to_pylist()}
    for digester in (right, wrong):  # and they are not opened without it
        assert not sealed & {bytes(one) for one in domain.digests_of(domain.combinations(KEYS), digester)}


def test_two_ledgers_of_one_file_have_no_row_in_common(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        (entry,) = ledger_in(tmp_path, name).add(DATA, name="first", keys=KEYS, id="id").entries
        found.append(set(pq.read_table(tmp_path / name / entry.file)["sealed"].to_pylist()))
    assert not found[0] & found[1]
    parts = [sdc.ReleaseLedger.open(tmp_path / name, key=tmp_path / f"{name}.key") for name in ("a", "b")]
    opened = [one._file.read(one.entries[0]) for one in parts]
    digested = {place: part for place, part in opened[0].parts.items() if place[0] != "cells"}
    for place, part in digested.items():
        assert (places(opened[1].parts[place].digests, part.digests) < 0).all()


def test_bad_input_is_told(tmp_path: Path) -> None:
    ledger = ledger_in(tmp_path).add(DATA, name="first", keys=KEYS)
    with pytest.raises(sdc.DataError, match="has a release 'first' already"):
        ledger.add(DATA, name="first", keys=KEYS)
    with pytest.raises(sdc.ColumnError, match="no column 'sx' in the data; did you mean 'sex'"):
        ledger.add(DATA, name="second", keys=["sx"])
    with pytest.raises(sdc.DataError, match="second: several records share a value of the id"):
        ledger.add(DATA, name="second", keys=KEYS, id="sex")
    with pytest.raises(sdc.ScenarioError, match="say which variables an intruder knows"):
        ledger.add(DATA, name="second")
    with pytest.raises(sdc.DataError, match="is of the survey 'Survey', and not of 'Panel'"):
        sdc.ReleaseLedger.open(tmp_path / "ledger", key=tmp_path / "ledger.key", survey="Panel")
    with pytest.raises(sdc.FileFormatError, match="there is no key lost"):
        sdc.ReleaseLedger.open(tmp_path / "ledger", key=tmp_path / "lost")
    with pytest.raises(sdc.DataError, match="survey is empty"):
        sdc.ReleaseLedger.create(tmp_path / "b", key=tmp_path / "b.key", survey=" ")
    with pytest.raises(sdc.DataError, match="kept apart from the ledger"):
        sdc.ReleaseLedger.create(tmp_path / "b", key=tmp_path / "b" / "b.key", survey="B")
    with pytest.raises(sdc.FileFormatError, match="holds a ledger already"):
        sdc.ReleaseLedger.create(tmp_path / "ledger", key=tmp_path / "new.key", survey="B")
    with pytest.raises(sdc.FileFormatError, match="could not make the folder"):
        sdc.ReleaseLedger.create(tmp_path / "ledger.key", key=tmp_path / "new.key", survey="B")
    assert not (tmp_path / "new.key").exists()
    assert len(sdc.ReleaseLedger.open(tmp_path / "ledger", key=tmp_path / "ledger.key").entries) == 1


def test_keys_of_one_or_several_intruders() -> None:
    assert key_sets(["a", "b"], "s", None) == ((("a", "b"),), ("s",))
    assert key_sets([["a"], ["b"]], (), None) == ((("a",), ("b",)), ())
    with pytest.raises(sdc.SdcError, match="keys"):
        key_sets("a", (), None)
    for empty in ([], [[], ["a"]]):
        with pytest.raises(sdc.SdcError, match="keys"):
            key_sets(empty, (), None)


# A release opened: its combinations and their digests.


RELEASE_DATA = with_gaps(people(), "age", 0.1)
DIGESTER = Digester(b"k" * 32)


def opened(data: pl.DataFrame = RELEASE_DATA, id: str | None = None) -> OpenedRelease:
    return open_release(data, [*KEYS, "job"], id=id, name="the release", role="keys")


def test_combinations_are_those_of_the_file_and_in_the_order_of_names() -> None:
    found = opened().combinations(["sex", "age"])
    assert found.columns == ("age", "sex")
    counted = RELEASE_DATA.group_by("age", "sex").len()
    assert sorted(found.size.tolist()) == sorted(counted["len"].to_list())
    assert (found.size[found.of_row] == RELEASE_DATA.select(pl.len().over("age", "sex")).to_series().to_numpy()).all()


def test_combinations_of_fewer_columns_follow_from_those_of_all() -> None:
    release = opened()
    for columns in (["sex"], ["age", "job"]):
        few = release.whole.among(sorted(columns))
        assert few.size.tolist() == release.combinations(columns).size.tolist()
        assert (few.of_row[release.whole.of_row] == release.combinations(columns).of_row).all()


def test_digests_do_not_depend_on_the_order_of_records_columns_or_types() -> None:
    other = RELEASE_DATA.sample(fraction=1.0, shuffle=True, seed=1).with_columns(pl.col("region").cast(pl.Float64))
    first, second = opened(), opened(other.select(reversed(other.columns)))
    digests = [one.digests_of(one.combinations(columns), DIGESTER)
               for one, columns in ((first, KEYS), (second, KEYS[::-1]))]  # fmt: skip
    assert {bytes(one) for one in digests[0]} == {bytes(one) for one in digests[1]}


def test_ids_have_a_digest_each() -> None:
    release = opened(id="id")
    assert release.id is not None
    assert len({bytes(one) for one in release.linking_digests(release.id, DIGESTER)}) == RELEASE_DATA.height


def test_what_tells_people_apart_links_by_its_single_values() -> None:
    n = RELEASE_DATA.height
    pay = pl.Series("pay", [None] * 100 + [7.0] * 20 + [one + 0.5 for one in range(n - 120)])
    few = pl.Series("few", [None] * 100 + [7.0] * 60 + [one + 0.5 for one in range(n - 160)])
    release = opened(RELEASE_DATA.with_columns(pay, few))
    assert set(release.links) == {"id", "pay"}
    assert (release.links["pay"].codes > 0).sum() == n - 120
    assert set(open_release(RELEASE_DATA, KEYS, id=None, name="it", role="keys", kept=["id"]).links) == set()


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(ColumnError, match="keys: no column 'sexx' in the data; did you mean 'sex'"):
        open_release(RELEASE_DATA, ["sexx"], id=None, name="it", role="keys")
    with pytest.raises(DataError, match="the release: several records share a value of the id"):
        opened(id="sex")
    with pytest.raises(DataError, match="several records share a value of the id, or have none"):
        opened(with_gaps(RELEASE_DATA, "id", 0.01), id="id")
    with pytest.raises(DataError, match="no records"):
        opened(RELEASE_DATA.head(0))


# Which columns of two releases can be compared, and whose rows belong together.


RELEASES_DATA = people()


def releases_opened(data: pl.DataFrame, id: str | None = None) -> OpenedRelease:
    return open_release(data, [*KEYS, "job"], id=id, name="it", role="keys")


def earlier(file: OpenedRelease) -> Earlier:
    sketch, order = sketch_release(file, [KEYS], ["job"], DIGESTER)
    return Earlier("old", "", True, sketch, DIGESTER, order)


def test_a_column_in_bands_is_coded_otherwise_and_a_new_value_is_not() -> None:
    banded = RELEASES_DATA.with_columns(
        age=pl.col("band"), region=pl.when(pl.int_range(400) == 0).then(99).otherwise("region")
    )
    assert comparable_columns(releases_opened(banded), earlier(releases_opened(RELEASES_DATA))) == (
        ("region", "sex", "job"),
        ("age",),
    )


def test_a_column_of_nothing_but_missing_values_contradicts_nothing() -> None:
    empty = RELEASES_DATA.with_columns(age=pl.lit(None, pl.Int64))
    assert comparable_columns(releases_opened(empty), earlier(releases_opened(RELEASES_DATA)))[1] == ()
    assert comparable_columns(releases_opened(RELEASES_DATA), earlier(releases_opened(empty)))[1] == ()


def test_a_column_that_one_does_not_have_is_neither() -> None:
    other = open_release(RELEASES_DATA, ["sex", "part"], id=None, name="it", role="keys")
    assert comparable_columns(other, earlier(releases_opened(RELEASES_DATA))) == (("sex",), ())


# Sets of possible values, against going through all pairs of records.


@pytest.mark.parametrize("gaps", [(), ("sex",), ("region", "age"), ("job",), ("region", "sex", "age", "job")])
def test_the_values_are_those_of_every_record_that_may_have_the_same_keys(gaps: tuple[str, ...]) -> None:
    data = people(150)
    for number, column in enumerate(gaps):
        data = with_gaps(data, column, 0.1, seed=number)
    opened = open_release(data, [*KEYS, "job"], id=None, name="it", role="keys")
    combined, job = opened.combinations(KEYS), opened.levels["job"]
    sets = candidate_sets(combined, job.codes, len(job.texts))
    found: list[set[object]] = [set() for _ in combined.size]
    for row, level in zip(*set_members(sets), strict=True):
        found[row].add(job.texts[level])
    assert [found[cell] for cell in combined.of_row] == possible(data, KEYS, "job")
    assert n_candidates(sets).tolist() == [len(one) for one in found]


@pytest.mark.parametrize("n", [1, 63, 64, 65, 130])
def test_a_set_of_all_levels_has_so_many(n: int) -> None:
    every = every_level(n)
    assert n_candidates(every[None]).tolist() == [n]
    assert set_members(every[None])[1].tolist() == list(range(n))


def test_many_levels_take_several_words() -> None:
    opened = open_release(people(300).with_row_index("row"), ["sex", "row"], id=None, name="it", role="keys")
    row = opened.levels["row"]
    sets = candidate_sets(opened.combinations(["sex"]), row.codes, len(row.texts))
    assert sets.shape == (2, 5)
    assert n_candidates(sets).sum() == 300
    assert not np.bitwise_and(sets[0], sets[1]).any()


# What a sketch holds: counts that are those of the file, and no more sets than are worth it.


SKETCHING_DATA = with_gaps(people(), "job", 0.05)


def sketching_opened() -> OpenedRelease:
    return open_release(SKETCHING_DATA, [*KEYS, "job"], id="id", name="it", role="keys")


def test_counts_are_those_of_the_file() -> None:
    release = sketching_opened()
    sketch, _ = sketch_release(release, [KEYS], ["job"], DIGESTER)
    assert {place[0] for place in sketch.parts} == {"counts", "cells", "ids", "keys", "sensitive"}
    every = ("age", "job", "region", "sex")
    assert sketch.named("counts") == [*((name,) for name in every), every]
    for names in sketch.named("counts"):
        part, columns = sketch.parts["counts", *names], list(names)
        found = part.of(release.digests_of(release.combinations(columns), DIGESTER))
        assert (found == release.combinations(columns).size).all()
        assert sorted(part.numbers.tolist()) == sorted(SKETCHING_DATA.group_by(columns).len()["len"].to_list())


def test_every_person_has_a_combination_and_every_combination_its_levels() -> None:
    release = sketching_opened()
    sketch, of_row = sketch_release(release, [KEYS, ["sex"]], ["job"], DIGESTER)
    every = ("age", "job", "region", "sex")
    assert release.id is not None
    assert (sketch.parts["ids", "id", *every].of(release.linking_digests(release.id, DIGESTER)) == of_row).all()
    assert sketch.named("keys") == [tuple(KEYS), ("sex",)]
    assert sketch.named("sensitive") == [("job",)]
    codes = codes_of(sketch, every)
    assert codes is not None
    for name, of_cell in zip(every, codes, strict=True):
        own = sketch.parts["counts", name].digests[of_cell[of_row]]
        alone = release.combinations([name])
        assert (own == release.digests_of(alone, DIGESTER)[alone.of_row]).all()
