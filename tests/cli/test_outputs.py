"""Targets are looked at before the work, and written whole or not at all."""

from __future__ import annotations

import errno
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from cli.conftest import KEYS
from full_disk import DISK_FULL
from sdckit.cli.outputs import (
    CHART_ENDINGS,
    REPORT_ENDINGS,
    check_enough_records,
    check_report_name,
    check_targets,
    count,
    number,
    percent,
    refuse_existing,
    write_text,
)
from sdckit.errors import DataError, FileFormatError, SdcError


def test_a_new_file_in_a_folder_that_exists_is_fine(tmp_path: Path) -> None:
    check_targets(tmp_path / "out.html", "-", None, inputs=(Path("a\0"),))  # no file is named so: said when it is read
    assert not list(tmp_path.iterdir())


def test_the_folder_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SdcError, match="its folder 'nowhere' does not exist"):
        check_targets(tmp_path / "nowhere" / "out.html")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(SdcError, match="it is a folder"):
        check_targets(tmp_path)
    with pytest.raises(SdcError, match=r"cannot write \.: it is a folder"):  # of --out ""
        check_targets(Path())


def test_the_input_is_never_overwritten(tmp_path: Path) -> None:
    data = tmp_path / "data.csv"
    data.write_text("a\n1\n")
    with pytest.raises(SdcError, match="reads this file"):
        check_targets(tmp_path / "." / "data.csv", inputs=(data, None))


def test_the_input_is_not_overwritten_through_a_link(tmp_path: Path) -> None:
    data, link = tmp_path / "data.csv", tmp_path / "link.json"
    data.write_text("a\n1\n")
    link.symlink_to(data)
    with pytest.raises(SdcError, match="reads this file"):
        check_targets(link, inputs=(data,))
    with pytest.raises(SdcError, match="same name"):
        check_targets(link, data)


def test_the_folder_a_link_leads_to_must_exist(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere" / "out.json")
    with pytest.raises(SdcError, match=r"cannot write link\.json: its folder 'nowhere' does not exist"):
        check_targets(tmp_path / "link.json")


def test_a_link_that_leads_nowhere_is_there(tmp_path: Path) -> None:
    (tmp_path / "out.csv").symlink_to(tmp_path / "absent.csv")
    with pytest.raises(SdcError, match=r"out\.csv exists already; --force"):
        refuse_existing(tmp_path / "out.csv", force=False)
    refuse_existing(tmp_path / "out.csv", force=True)


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="cannot write pipe: it is not a regular file; use - to print"):
        check_targets(None, str(tmp_path / "pipe"))


def test_two_outputs_need_two_names(tmp_path: Path) -> None:
    with pytest.raises(SdcError, match="same name"):
        check_targets(tmp_path / "out", str(tmp_path / "out"))


def test_no_permission_is_seen_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda *_: False)  # root may write anywhere
    with pytest.raises(SdcError, match="no permission"):
        check_targets(tmp_path / "out.html")


@pytest.mark.parametrize("name", ["r.html", "r.HTM", "r.md", "r.docx", None])
def test_a_report_has_an_ending_we_write(name: str | None) -> None:
    check_report_name(None if name is None else Path(name))


@pytest.mark.parametrize("name", ["r.odt", "r", "report.html.txt"])
def test_another_ending_is_refused(name: str) -> None:
    with pytest.raises(SdcError, match=r"ends in \.html"):
        check_report_name(Path(name))


def test_the_endings_are_those_of_the_writer() -> None:
    from sdckit.report.formats.write import RENDERERS
    from sdckit.report.offline import ENDINGS

    assert set(REPORT_ENDINGS) == set(RENDERERS)
    assert set(CHART_ENDINGS) == set(ENDINGS)


def test_few_records_give_no_document_but_an_internal_one() -> None:
    check_enough_records(50, internal=False)
    check_enough_records(3, internal=True)
    with pytest.raises(DataError, match="fewer than 50 records") as caught:
        check_enough_records(49, internal=False)
    assert "49" not in str(caught.value)


def test_text_replaces_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.toml"
    target.write_text("old")
    write_text(target, "new ü\n")
    assert target.read_text(encoding="utf-8") == "new ü\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "out.toml"
    target.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileFormatError, match=f"could not write the file: {DISK_FULL}"):
        write_text(target, "new")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


# Numbers for a terminal.


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (6366, "6,366"), (2.0, "2"), (1.25, "1.2"), (1234.56, "1,234.6")]
)
def test_a_count(value: float, text: str) -> None:
    assert count(value) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 5, "0 %"),
        (1, 0, "0 %"),
        (5, 5, "100 %"),
        (1, 3, "33 %"),
        (1, 15, "6.7 %"),
        (1, 100, "1.0 %"),
        (1, 1000, "0.10 %"),
        (996, 10_000, "10 %"),
        (9999, 10_000, ">99 %"),
        (1, 2000, "0.050 %"),
    ],
)
def test_a_share(part: float, whole: float, text: str) -> None:
    assert percent(part, whole) == text


def test_a_figure_that_is_undefined_is_a_dash() -> None:
    assert (number(math.nan), number(None), number(0.5)) == ("–", "–", "0.5")


# What libraries print by themselves does not stand among what the program says.


NOISY = """
import os, subprocess, sys
import sdckit.cli.app as app

def run():
    os.write(1, b"a line of a solver\\n")
    subprocess.run([sys.executable, "-c", "print('a child')"], check=True)
    print('{"ours": 1}')
    return 3

app.run = run
from sdckit.cli import main
main()
"""


def test_what_others_print_goes_to_stderr() -> None:
    done = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=False)
    assert json.loads(done.stdout) == {"ours": 1}
    assert done.returncode == 3
    assert "a line of a solver" in done.stderr
    assert "a child" in done.stderr


COLLECTING = """
import atexit, gc
import sdckit.cli.app as app

def run():
    print(gc.isenabled(), gc.get_freeze_count() > 20_000)
    return 0

atexit.register(lambda: print(len(gc.get_objects()) < 1_000))
app.run = run
from sdckit.cli import main
main()
"""


def test_garbage_is_looked_for_while_a_command_runs_alone() -> None:
    """What is loaded is none, and as the program ends nobody needs what it took."""
    done = subprocess.run([sys.executable, "-c", COLLECTING], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["True", "True", "True"], done.stderr


def test_an_engine_is_left_without_a_word(tmp_path: Path) -> None:
    """DuckDB lists what is left of it as the process ends."""
    file = tmp_path / "a.csv"
    file.write_text("sex,age\n" + "f,30\nm,40\n" * 20)
    line = ["-m", "sdckit", "assess", file, "--keys", "sex,age", "--k", "2", "--engine", "duckdb", "-q"]
    done = subprocess.run([sys.executable, *line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_without_standard_error_the_program_still_speaks() -> None:
    closed = f"exec {sys.executable} -m sdckit --version 2>&-"
    done = subprocess.run(["sh", "-c", closed], capture_output=True, text=True, check=False)
    assert done.stdout.startswith("sdckit ")


def test_a_full_disk_is_said_where_little_is_written() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sdckit", "--version"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr.partition(";")[0]) == (2, "error: the disk is full, or your share of it")


def test_a_stdout_that_is_closed_stops_nothing() -> None:
    closed = f'exec {sys.executable} -c "from sdckit.cli.outputs import keep_stdout; keep_stdout()" >&-'
    done = subprocess.run(["sh", "-c", closed], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_table_holds_every_figure_for_its_owner_alone(sdckit, survey: Path, tmp_path: Path) -> None:
    table = tmp_path / "table.parquet"
    assert sdckit("k-anonymity", survey, *KEYS, "--figures", table).code == 0
    made = sdc.k_anonymity(sdc.read_file(survey), keys=["sex", "age", "region"])
    assert pl.read_parquet(table).drop("measure").equals(made.details())
    assert table.stat().st_mode & 0o777 == 0o600
    assert sdckit("population-risk", survey, *KEYS, "--weight", "w", "--figures", table).code == 0
    assert set(pl.read_parquet(table)["measure"]) == {"population_risk", "population_uniques"}
    assert sdckit("assess", survey, *KEYS, "-q", "--figures", table).code == 0
    assert pl.read_parquet(table).columns == ["intruder", "measure", "figure", "value"]


def test_a_table_of_verdicts_has_exact_figures_unless_protected(sdckit, survey: Path, tmp_path: Path) -> None:
    table, gate = tmp_path / "table.csv", tmp_path / "gate.toml"
    gate.write_text('keys = ["sex", "age", "region"]\n[thresholds]\nk = 2\nhousehold_risk = 0.1\n', encoding="utf-8")
    assert sdckit("check", survey, "--scenario", gate, "-q", "--figures", table).code == 2
    verdicts = pl.read_csv(table)
    assert verdicts["verdict"].to_list() == ["exceeded", "not judged"]
    assert verdicts["n_records"].to_list()[0] > 0
    assert sdckit("check", survey, "--scenario", gate, "-q", "--protected", "--figures", table).code == 2
    assert pl.read_csv(table).columns == ["threshold", "intruder", "variable", "verdict", "sentence"]


@pytest.mark.parametrize("line", ["suda", "assess", "check --scenario nowhere.toml"])
def test_a_table_in_a_wrong_place_is_refused(sdckit, line: str, survey: Path, tmp_path: Path) -> None:
    gate = tmp_path / "nowhere.toml"
    gate.write_text('keys = ["sex"]\n[thresholds]\nk = 2\n', encoding="utf-8")
    words = line.replace("nowhere.toml", str(gate)).split()
    words = [*words, survey, *(() if words[0] == "check" else KEYS)]
    before = survey.read_bytes()
    for table, said in (
        (tmp_path / "t.xls", "ends in one of"),
        (survey, "read"),
        (tmp_path / "no" / "t.csv", "folder"),
    ):
        done = sdckit(*words, "--figures", table)
        assert (done.code, len(done.lines)) == (2, 1)
        assert said in done.err
    assert survey.read_bytes() == before
