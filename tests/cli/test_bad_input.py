"""Every bad input: one clear error and code 2, or a warning and the code as before; nothing half written."""

from __future__ import annotations

import errno
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from full_disk import DISK_FULL, fill_disk

KEYS = ("--keys", "sex,age,region")
MARKER = "Zq7Qx"
NUMBER = "918273645"


def refused(done, tmp_path: Path, *words: str, left: tuple[str, ...] = ("survey.csv",)) -> None:
    """One line of error with these words, code 2, no other output, no file left, no value shown."""
    assert done.code == 2, done
    assert done.out == ""
    errors = [line for line in done.lines if line.startswith("error: ")]
    assert len(errors) == 1
    assert all(line.startswith(("error: ", "warning: ")) for line in done.lines)
    for word in words:
        assert word in errors[0]
    assert MARKER not in done.err
    assert NUMBER not in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(left)


def warned(done, *words: str) -> None:
    """Code 0, the tables, and one warning with these words, without a value."""
    assert done.code == 0, done
    assert "records" in done.out
    assert any(line.startswith("warning: ") and all(word in line for word in words) for line in done.lines), done.err
    assert len(set(done.lines)) == len(done.lines)
    assert MARKER not in done.err
    assert NUMBER not in done.err


@pytest.fixture
def assess(sdckit, survey: Path, tmp_path: Path):
    """Assess the survey with a report and JSON asked for, so that half-written ones would be seen."""

    def call(*options: object, path: Path = survey):
        out = ("--report", tmp_path / "r.html", "--json", tmp_path / "r.json")
        return sdckit("assess", path, *(options or KEYS), *out)

    return call


def test_a_missing_file(assess, tmp_path: Path) -> None:
    refused(assess(path=tmp_path / "nothing.csv"), tmp_path, "nothing.csv")


def test_an_empty_file(assess, survey: Path, tmp_path: Path) -> None:
    survey.write_bytes(b"")
    refused(assess(), tmp_path, "empty")


def test_a_header_without_records(assess, survey: Path, tmp_path: Path) -> None:
    survey.write_text("sex,age,region\n")
    refused(assess(), tmp_path, "no records")


def test_repeated_column_names(assess, survey: Path, tmp_path: Path) -> None:
    survey.write_text(f"sex,age,age\nf,{MARKER},2\n")
    refused(assess("--keys", "sex,age"), tmp_path, "'age' (2, 3)")


def test_an_absent_column_with_the_nearest_name(assess, tmp_path: Path) -> None:
    refused(assess("--keys", "sex,regoin"), tmp_path, "'regoin'", "key", "'region'")


def test_an_absent_weight_names_its_role(assess, tmp_path: Path) -> None:
    refused(assess(*KEYS, "--weight", "W8"), tmp_path, "'W8'", "weight")


def test_a_key_without_any_value(assess, survey: Path, frame: pl.DataFrame, tmp_path: Path) -> None:
    frame.with_columns(region=pl.lit(None, pl.String)).write_csv(survey)
    refused(assess(), tmp_path, "'region'", "no value")


def at_record_5(value: object, weights: pl.Expr) -> pl.Expr:
    return pl.when(pl.int_range(pl.len()) == 4).then(pl.lit(value)).otherwise(weights)


W = pl.col("w")


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (at_record_5(None, W), ("'w'", "missing", "5")),
        (at_record_5(-918_273_645.0, W), ("'w'", "negative", "5")),
        (at_record_5(0.0, W), ("'w'", "zero", "5")),
        (at_record_5(float("inf"), W), ("'w'", "infinite", "5")),
        (W / W.mean(), ("mean 1",)),
        (at_record_5(MARKER, W.cast(pl.String)), ("'w'", "not numbers")),
    ],
    ids=["missing", "negative", "zero", "infinite", "mean 1", "text"],
)
def test_weights_that_cannot_be_used(
    assess, survey: Path, frame: pl.DataFrame, tmp_path: Path, weights: pl.Expr, words: tuple[str, ...]
) -> None:
    parquet = survey.with_suffix(".parquet")
    survey.unlink()
    frame.with_columns(weights.alias("w")).write_parquet(parquet)
    done = assess(*KEYS, "--weight", "w", path=parquet)
    refused(done, tmp_path, *words, left=("survey.parquet",))


def test_text_among_the_weights_of_a_csv(assess, survey: Path, frame: pl.DataFrame, tmp_path: Path) -> None:
    spoilt = pl.when(pl.int_range(pl.len()) == 4).then(pl.lit(MARKER)).otherwise(pl.col("w").cast(pl.String))
    frame.with_columns(spoilt.alias("w")).write_csv(survey)
    refused(assess(*KEYS, "--weight", "w"), tmp_path, "'w'")


def test_bytes_that_are_no_utf_8(assess, survey: Path, sdckit) -> None:
    text = survey.read_bytes().replace(b"north", "nörd".encode("latin-1"))
    survey.write_bytes(text)
    done = sdckit("assess", survey, *KEYS)
    assert done.code in {0, 2}
    assert len(done.lines) == 1
    assert "encoding" in done.err.lower() or "utf-8" in done.err.lower()
    assert sdckit("assess", survey, *KEYS, "--encoding", "latin-1").code == 0


def test_a_truncated_parquet_file(assess, frame: pl.DataFrame, tmp_path: Path) -> None:
    parquet = tmp_path / "survey.parquet"
    frame.write_parquet(parquet)
    parquet.write_bytes(parquet.read_bytes()[:-40])
    refused(assess(path=parquet), tmp_path, "truncated", left=("survey.csv", "survey.parquet"))


def test_a_parquet_file_damaged_inside(assess, frame: pl.DataFrame, tmp_path: Path) -> None:
    parquet = tmp_path / "survey.parquet"
    frame.write_parquet(parquet)
    data = bytearray(parquet.read_bytes())
    data[8 : len(data) - 900] = bytes(len(data) - 908)
    parquet.write_bytes(data)
    refused(assess(path=parquet), tmp_path, "survey.parquet", left=("survey.csv", "survey.parquet"))


def test_fewer_than_50_records(assess, survey: Path, frame: pl.DataFrame, tmp_path: Path, sdckit) -> None:
    frame.head(49).write_csv(survey)
    refused(assess(), tmp_path, "fewer than 50 records", "--internal")
    assert sdckit("assess", survey, *KEYS).code == 0
    assert sdckit("assess", survey, *KEYS, "--json", "-").code == 2
    assert sdckit("assess", survey, *KEYS, "--report", tmp_path / "r.html", "--internal").code == 0


def test_a_folder_that_does_not_exist(sdckit, survey: Path, tmp_path: Path) -> None:
    done = sdckit("assess", survey, *KEYS, "--report", tmp_path / "nowhere" / "r.html")
    refused(done, tmp_path, "its folder 'nowhere' does not exist")


def test_a_report_over_the_data(sdckit, survey: Path, tmp_path: Path) -> None:
    refused(sdckit("assess", survey, *KEYS, "--report", survey), tmp_path, "reads this file")
    assert survey.read_text().startswith("name,")


@contextmanager
def little_room(size: int) -> Iterator[None]:
    """Let no file grow beyond this size: as on a full disk, a write fails in the middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_no_room_for_the_report(sdckit, survey: Path, tmp_path: Path) -> None:
    sdckit("assess", survey, *KEYS)  # kernels are compiled and cached with room to spare
    with little_room(4_000):
        done = sdckit("assess", survey, *KEYS, "--report", tmp_path / "r.html")
    refused(done, tmp_path, "could not write the report", "would be larger than this disk or your account allows")


def test_a_full_disk_keeps_the_report_of_yesterday(
    sdckit, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r.html").write_text("yesterday")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)
    done = sdckit("assess", survey, *KEYS, "--report", tmp_path / "r.html")
    refused(done, tmp_path, DISK_FULL, left=("r.html", "survey.csv"))
    assert (tmp_path / "r.html").read_text() == "yesterday"


@pytest.mark.parametrize(("option", "name"), [("--report", "r.html"), ("--report", "r.md"), ("--json", "r.json")])
def test_a_disk_that_is_full(
    sdckit, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    fill_disk(monkeypatch)
    done = sdckit("assess", survey, *KEYS, option, tmp_path / name)
    refused(done, tmp_path, "could not write the", f"{DISK_FULL}; nothing was left behind")


def test_a_full_disk_leaves_no_scenario(sdckit, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_disk(monkeypatch)
    done = sdckit("scenario", "init", survey, "-o", tmp_path / "s.toml")
    refused(done, tmp_path, f"could not write the file: {DISK_FULL}")


@pytest.mark.parametrize(
    "command",
    [("assess", *KEYS, "--json"), ("assess", *KEYS, "--report"), ("scenario", "init", "--force", "-o")],
    ids=["json", "report", "scenario"],
)
def test_a_pipe_in_the_place_of_a_file(
    sdckit, survey: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("work began")

    monkeypatch.setattr("sdckit.data.files.readers.read_file", forbidden)
    monkeypatch.setattr("sdckit.data.scenarios.guess.guess_file", forbidden)
    os.mkfifo(tmp_path / "pipe.html")
    done = sdckit(*command, tmp_path / "pipe.html", survey)
    refused(done, tmp_path, "pipe.html: it is not a regular file", left=("pipe.html", "survey.csv"))
    assert stat.S_ISFIFO((tmp_path / "pipe.html").stat().st_mode)


def test_a_report_behind_a_link(sdckit, survey: Path, tmp_path: Path) -> None:
    (tmp_path / "link.html").symlink_to(tmp_path / "r.html")
    assert sdckit("assess", survey, *KEYS, "--report", tmp_path / "link.html").code == 0
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "r.html").is_file()


def test_a_household_missing_for_some(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    gaps = pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise(pl.col("hh")).alias("hh")
    frame.with_columns(gaps).write_csv(survey)
    warned(sdckit("assess", survey, *KEYS, "--household", "hh"), "household", "7")


def test_a_constant_key(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    frame.with_columns(sex=pl.lit(MARKER)).write_csv(survey)
    warned(sdckit("assess", survey, *KEYS), "'sex'", "same value")


def test_a_key_unique_for_everyone(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    frame.with_columns(age=pl.lit(MARKER) + pl.int_range(pl.len()).cast(pl.String)).write_csv(survey)
    warned(sdckit("assess", survey, *KEYS), "'age'", "identifier")


def test_a_numeric_key_with_thousands_of_values(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    many = pl.concat([frame] * 20).with_columns(age=918_273_645 + pl.int_range(pl.len()) // 2)
    many.write_csv(survey)
    warned(sdckit("assess", survey, *KEYS), "'age'", "recode")


def test_a_column_named_like_a_result(sdckit, survey: Path, frame: pl.DataFrame) -> None:
    frame.rename({"sex": "risk", "age": "sample_frequency"}).write_csv(survey)
    done = sdckit("assess", survey, "--keys", "risk,sample_frequency,region", "--weight", "w")
    assert done.code in {0, 2}
    assert not done.code or "error: " in done.err


def test_a_column_with_two_roles(assess, tmp_path: Path) -> None:
    refused(assess(*KEYS, "--weight", "age"), tmp_path, "'age'")


@pytest.mark.parametrize(
    ("option", "value"),
    [("--k", 1), ("--risk", 2), ("--sampling-fraction", 0), ("--alpha", 3), ("--missing-rule", "nothing")],
)
def test_an_option_out_of_range(assess, tmp_path: Path, option: str, value: object) -> None:
    refused(assess(*KEYS, option, value), tmp_path, option)


def test_a_scenario_that_is_none(assess, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text('keys = ["sex"]\nwieght = "w"\n')
    refused(assess("--scenario", scenario), tmp_path, "'wieght'", "'weight'", left=("s.toml", "survey.csv"))
    scenario.write_text("keys = [")
    refused(assess("--scenario", scenario), tmp_path, "s.toml", left=("s.toml", "survey.csv"))


def test_a_scenario_that_is_absent(assess, tmp_path: Path) -> None:
    refused(assess("--scenario", tmp_path / "s.toml"), tmp_path, "s.toml")


def test_several_intruders_given_to_one_measure(frame: pl.DataFrame) -> None:
    both = sdc.Scenario(intruders={"neighbour": ["sex"], "register": ["sex", "age"]})
    with pytest.raises(sdc.ScenarioError, match=r"'neighbour', 'register'.*\.intruder\(name\)"):
        sdc.k_anonymity(frame, scenario=both)
    assert sdc.k_anonymity(frame, scenario=both.intruder("neighbour")).level >= 2


def test_a_result_column_already_taken_in_a_lazy_frame(frame: pl.DataFrame) -> None:
    taken = frame.rename({"income": "Risk"}).lazy()  # names differ only by case, which some engines fold
    with pytest.raises(sdc.ColumnError, match="prefix="):
        _ = sdc.individual_risk(taken, keys=["sex", "age"], weight="w").records
    records = sdc.individual_risk(taken, keys=["sex", "age"], weight="w", prefix="sdc_").records
    assert "sdc_risk" in records.collect_schema().names()
