"""The ledger as people use it, and what it tells somebody who has not its key."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import sdckit as sdc
from attacks.differencing.several import KEYS, people
from sdckit.attacks.differencing.opened_release import open_release
from sdckit.attacks.differencing.release_ledger import key_sets
from sdckit.data.ledger.digests import Digester, places
from sdckit.data.ledger.ledger_key import make_key

DATA = people(200)


def ledger_in(folder: Path, name: str = "ledger") -> sdc.ReleaseLedger:
    return sdc.ReleaseLedger.create(folder / name, key=folder / f"{name}.key", survey="Survey")


def test_what_is_added_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    made = ledger_in(tmp_path).add(
        DATA, name="first", keys=KEYS, sensitive="job", date="2024", people="wave 1"
    )
    again = sdc.ReleaseLedger.open(tmp_path / "ledger", key=tmp_path / "ledger.key", survey="Survey")
    assert made.entries == again.entries
    (entry,) = again.entries
    assert (entry.name, entry.date, entry.people) == ("first", "2024", "wave 1")
    assert set(entry.columns) == {*KEYS, "job"}
    assert repr(again) == "ReleaseLedger(survey='Survey', 1 release)"


def test_a_scenario_gives_the_keys_of_every_intruder(tmp_path: Path) -> None:
    scenario = sdc.Scenario(intruders={"a": ["sex", "age"], "b": ["region"]}, sensitive=["job"])
    (entry,) = ledger_in(tmp_path).add(DATA, name="first", scenario=scenario, id="id").entries
    assert {place[2:] for place in entry.sets if place[0] == "people"} == {("age", "sex"), ("region",)}


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
    ledger_in(tmp_path).add(DATA, name="first", keys=KEYS, sensitive=["job"])
    ledger = sdc.ReleaseLedger.open(tmp_path / "ledger", key=tmp_path / "ledger.key")
    (entry,) = ledger.entries
    everybody = pl.DataFrame(list(product(range(6), ["f", "m"], range(8))), schema=KEYS, orient="row")
    domain = open_release(everybody, KEYS, id=None, name="domain", role="keys")
    right = Digester(
        (tmp_path / "ledger.key").read_bytes() and bytes.fromhex((tmp_path / "ledger.key").read_text())
    )
    wrong = Digester(make_key(tmp_path / "guess.key"))
    n = DATA.n_unique(KEYS)
    part = ledger._sketch(entry).get("counts", sorted(KEYS))
    assert part is not None
    assert (part.of(domain.digests(KEYS, right)) > 0).sum() == n  # the key answers
    assert (part.of(domain.digests(KEYS, wrong)) > 0).sum() == 0  # even opened digests need it
    sealed = {one[:16] for one in pq.read_table(tmp_path / "ledger" / entry.file)["sealed"].to_pylist()}
    for digester in (right, wrong):  # and they are not opened without it
        assert not sealed & {bytes(one) for one in domain.digests(KEYS, digester)}


def test_two_ledgers_of_one_file_have_no_row_in_common(tmp_path: Path) -> None:
    found = []
    for name in ("a", "b"):
        (entry,) = ledger_in(tmp_path, name).add(DATA, name="first", keys=KEYS, id="id").entries
        found.append(set(pq.read_table(tmp_path / name / entry.file)["sealed"].to_pylist()))
    assert not found[0] & found[1]
    parts = [sdc.ReleaseLedger.open(tmp_path / name, key=tmp_path / f"{name}.key") for name in ("a", "b")]
    opened = [one._sketch(one.entries[0]) for one in parts]
    for place, part in opened[0].parts.items():
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
