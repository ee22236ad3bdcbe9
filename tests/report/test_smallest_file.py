"""Fifty records give a document that may leave the room, forty-nine only a confidential one."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from draw import quiet
from sdckit.cli.app import run


def file(n: int) -> pl.DataFrame:
    return pl.DataFrame(
        {"sex": ["f", "m"] * (n // 2) + ["f"] * (n % 2), "region": ["north", "south"] * (n // 2) + ["north"] * (n % 2)}
    )


@pytest.mark.parametrize("name", ["report.html", "report.md", "report.json"])
def test_fifty_records_are_enough(tmp_path: Path, name: str) -> None:
    for n, internal in ((50, False), (49, True), (50, True)):
        with quiet():
            found = sdc.assess(file(n), keys=["sex", "region"])
            write = found.to_json if name.endswith("json") else found.report
            write(tmp_path / name, internal=internal)
        assert (tmp_path / name).stat().st_size > 500
        (tmp_path / name).unlink()
    with quiet():
        found = sdc.assess(file(49), keys=["sex", "region"])
        write = found.to_json if name.endswith("json") else found.report
        with pytest.raises(sdc.SdcError, match="a file of fewer than 50 records gives no document"):
            write(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("n", "code"), [(50, 0), (49, 2)])
def test_the_command_line_draws_the_same_line(
    tmp_path: Path, n: int, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    file(n).write_csv(tmp_path / "file.csv")
    report = tmp_path / "report.html"
    words = ["assess", str(tmp_path / "file.csv"), "--keys", "sex,region", "--quiet"]
    assert run([*words, "--report", str(report)]) == code
    assert report.exists() == (code == 0)
    assert ("fewer than 50 records" in capsys.readouterr().err) == (code == 2)
    assert run([*words, "--report", str(report), "--internal"]) == 0
