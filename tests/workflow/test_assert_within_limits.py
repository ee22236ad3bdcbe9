"""The gate as an assertion: silent where all holds, and otherwise nobody's record in message, traceback or locals."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import traceback
from pathlib import Path

import polars as pl
import pytest

import sdckit as sdc
from redteam.marked import make_files, traces_in, write as write_marked

FILES = make_files()
KEYS = ["region", "sex", "band"]


def scenario(**limits: float) -> sdc.Scenario:
    return sdc.Scenario(keys=KEYS, sensitive=["ill"], weight="w", thresholds=limits)


def failure(**limits: float) -> BaseException:
    with pytest.raises((AssertionError, sdc.SdcError)) as caught:
        sdc.assert_within_limits(FILES["survey"], scenario=scenario(**limits))
    return caught.value


def test_within_all_limits_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert sdc.assert_within_limits(FILES["survey"], scenario=scenario(risk=1.0)) is None
    assert capsys.readouterr() == ("", "")


def test_it_says_what_does_not_hold_and_only_that() -> None:
    said = str(failure(k=3, risk=1.0)).splitlines()
    assert said[0] == "not within the declared limits"
    assert [line.split(":")[0].strip() for line in said[1:]] == ["exceeded"]
    told = sdc.check(FILES["survey"], scenario=scenario(k=3)).told()
    assert said[1].endswith(told.verdicts[0].sentence)


def test_a_limit_that_could_not_be_judged_fails() -> None:
    assert "not judged: Household risk (limit 0.1) could not be judged" in str(failure(household_risk=0.1))


def test_of_few_records_nothing_more_is_told() -> None:
    few = FILES["survey"][:40]
    sdc.assert_within_limits(few, scenario=scenario(risk=1.0))
    with pytest.raises(AssertionError, match="fewer than 50 records, so no more is told"):
        sdc.assert_within_limits(few, scenario=scenario(k=40))


def test_files_are_read_as_the_command_line_reads_them(tmp_path: Path) -> None:
    write_marked(FILES, tmp_path)
    paths = [str(tmp_path / "survey.parquet"), tmp_path / "made1.parquet"]
    gate = scenario(match_risk=1.0, risk=1.0).changed(aligned=True)
    sdc.assert_within_limits(paths[0], scenario=scenario(risk=1.0))
    sdc.assert_within_limits(paths[0], [paths[1], FILES["made1"]], scenario=gate, seed=1)
    FILES["survey"].with_columns(job=pl.lit("refused")).write_csv(tmp_path / "coded.csv")
    coded = gate.changed(intruders={"x": ["job"]}, missing_codes=["refused"], thresholds={"risk": 1.0})
    with pytest.raises(sdc.SdcError, match="job"):  # all of them missing
        sdc.assert_within_limits(tmp_path / "coded.csv", scenario=coded)
    with pytest.raises(sdc.FileFormatError, match=r"absent\.csv"):
        sdc.assert_within_limits(tmp_path / "absent.csv", scenario=gate)


def test_no_warning_is_given_but_in_the_message() -> None:
    constant = FILES["survey"].with_columns(sex=pl.lit("f"))
    with pytest.raises(AssertionError, match="\n  warning: key 'sex' has the same value in every record"):
        sdc.assert_within_limits(constant, scenario=scenario(k=3))


@pytest.mark.parametrize(
    "broken", [{}, {"intruders": {"x": ["region", "nowhere"]}}, {"weight": "job"}, {"household": "nowhere"}]
)
def test_an_error_comes_without_the_frames_that_saw_the_records(broken: dict[str, object]) -> None:
    wrong = scenario(k=3).changed(**broken)
    with pytest.raises((sdc.SdcError, AssertionError)) as caught:
        sdc.assert_within_limits(FILES["survey"], scenario=wrong)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    own = [frame for frame, _ in traceback.walk_tb(caught.value.__traceback__)][1:]
    assert [frame.f_code.co_name for frame in own] == ["assert_within_limits"]
    assert not {"data", "released", "control", "how"} & set(own[0].f_locals)
    assert not any(one is FILES["survey"] for one in gc.get_referents(*own[0].f_locals.values()))


def test_what_a_library_says_is_not_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("ZQX")

    monkeypatch.setattr("sdckit.workflow.assert_within_limits.check", breaks)
    with pytest.raises(sdc.SdcError, match="internal error: RuntimeError") as caught:
        sdc.assert_within_limits(FILES["survey"], scenario=scenario(k=3))
    assert "ZQX" not in "".join(traceback.format_exception(caught.value))


TEST = """
    import polars as pl
    import sdckit as sdc

    def test_the_release():
        scenario = sdc.Scenario.from_toml("scenario.toml")
        sdc.assert_within_limits("survey.parquet", scenario=scenario)

    def test_a_mistake():
        scenario = sdc.Scenario.from_toml("scenario.toml")
        sdc.assert_within_limits(pl.read_parquet("survey.parquet").drop("w"), scenario=scenario)
"""


def test_pytest_prints_no_record(tmp_path: Path) -> None:
    write_marked(FILES, tmp_path)
    (tmp_path / "scenario.toml").write_text(scenario(k=3, risk=0.01).to_toml(), encoding="utf-8")
    (tmp_path / "test_it.py").write_text(textwrap.dedent(TEST), encoding="utf-8")
    # Long tracebacks, and the locals of every frame that is shown.
    words = ["-p", "no:cacheprovider", "--showlocals", "--tb=long", "-vv", "-W", "default", "test_it.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "2 failed" in done.stdout, done.stdout
    assert "AssertionError: not within the declared limits" in done.stdout
    assert "ColumnError" in done.stdout
    assert "tmp = " not in done.stdout
    assert not traces_in(done.stdout + done.stderr)
    assert "shape: (" not in done.stdout  # how Polars prints a frame
