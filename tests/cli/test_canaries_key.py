"""The key of planted records: it gives back what was written, and says nothing of what it is not."""

from __future__ import annotations

import datetime as dt
import json
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit.cli.canaries_key import read_key, write_key
from sdckit.errors import DataError, FileFormatError

N = 40
DAY = dt.date(2020, 1, 1)
FRAME = pl.DataFrame(
    {
        "number": [float(i * i) if i else None for i in range(N)],
        "whole": range(N),
        "text": [f"Zürich, {i % 7}" for i in range(N)],
        "flag": [None if i == 3 else i % 2 == 0 for i in range(N)],
        "day": [DAY + dt.timedelta(days=i) for i in range(N)],
        "moment": [dt.datetime(2020, 1, 1, i % 24, tzinfo=dt.UTC) for i in range(N)],
        "kind": pl.Series(["a", "b"] * (N // 2), dtype=pl.Categorical),
    }
)


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    made = sdc.canaries(FRAME, n=5, copies=2, seed=1)
    write_key(made, path)
    key = read_key(path)
    expected = pl.concat([made.planted, made.held_out]).with_columns(pl.col("kind").cast(pl.String))
    assert key.both.equals(expected)
    assert key.both.schema == expected.schema
    assert (key.n_planted, key.copies, key.variables) == (5, 2, made.variables)
    assert (key.numeric, list(key.ranges)) == (made.numeric, made.ranges.tolist())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_only_what_is_compared_is_kept_and_odd_types_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    write_key(sdc.canaries(FRAME, n=5, variables=["number", "text"], seed=1), path)
    assert read_key(path).both.columns == ["number", "text"]
    times = FRAME.select("number", "text", time=pl.col("moment").dt.time())
    with pytest.raises(DataError, match="'time' holds Time"):
        write_key(sdc.canaries(times, n=5, variables=["number", "time"], seed=1), tmp_path / "no.json")
    assert not (tmp_path / "no.json").exists()


def test_not_a_number_is_missing_and_the_key_is_json(tmp_path: Path) -> None:
    path = tmp_path / "key.json"
    one = pl.DataFrame({"number": [1.5, float("nan"), None]})
    names, ranges = ("number",), np.array([1.0])
    made = SimpleNamespace(
        planted=one,
        held_out=one,
        n_planted=3,
        copies=1,
        variables=names,
        numeric=names,
        ranges=ranges,
        seed=1,
    )
    write_key(made, path)  # type: ignore[arg-type]
    assert "NaN" not in path.read_text(encoding="utf-8")
    assert read_key(path).both["number"].to_list() == [1.5, None, None] * 2


@pytest.mark.parametrize(
    "spoil",
    [
        lambda plain: plain.pop("columns"),
        lambda plain: plain.update(schema="sdckit/attacks"),
        lambda plain: plain.update(n_planted=10),
        lambda plain: plain.update(ranges=[1.0]),
        lambda plain: plain["columns"]["number"].update(type="secret"),
        lambda plain: plain["columns"]["number"].update(values=["Zq7Qx"] * 10),
        lambda plain: plain["columns"].update(number=3),
    ],
)
def test_what_is_no_key(tmp_path: Path, spoil) -> None:
    path = tmp_path / "key.json"
    write_key(sdc.canaries(FRAME, n=5, seed=1), path)
    plain = json.loads(path.read_text(encoding="utf-8"))
    spoil(plain)
    path.write_text(json.dumps(plain), encoding="utf-8")
    with pytest.raises(FileFormatError, match=r"key\.json is no key of canaries") as told:
        read_key(path)
    assert "Zq7Qx" not in str(told.value)


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe", b"a,b\n1,2\n", b"[" * 100_000])
def test_what_is_no_json(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "key.json").write_bytes(content)
    with pytest.raises(FileFormatError, match="is no key of canaries"):
        read_key(tmp_path / "key.json")
    with pytest.raises(FileFormatError, match=r"cannot read none\.json"):
        read_key(tmp_path / "none.json")
