"""Files that are damaged, or made to fill the memory: one error each, and no abort."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from needs import needs_signals
from redteam import hostile_files

GIGABYTE = 1024  # MB


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float, int]]:
    """What became of each file, the processor seconds it took, and the most memory until then (MB)."""
    needs_signals()  # limits of a process are set as POSIX has them
    folder = tmp_path_factory.mktemp("hostile")
    hostile_files.write_all(folder)
    ran = subprocess.run(
        [sys.executable, hostile_files.__file__, str(folder)], capture_output=True, text=True, check=False,
        env={**os.environ, "POLARS_MAX_THREADS": "2", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    lines = [line.partition("\t") for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, f"the process ended at {lines[-1][0]}: {ran.stderr[-2000:]}"
    return {name: tuple(json.loads(outcome)) for name, _, outcome in lines}


def test_each_is_refused_by_one_error(outcomes) -> None:
    wrong = {name: outcome for name, (outcome, *_) in outcomes.items() if not outcome.startswith("refused: ")}
    assert not set(wrong) & set(hostile_files.REFUSED), wrong
    assert set(wrong.values()) <= {"read"}, wrong  # what was overwritten may still be a file


def test_none_takes_more_than_a_gigabyte(outcomes) -> None:
    assert max(memory for _, _, memory in outcomes.values()) < GIGABYTE


def test_every_format_has_a_twin(tmp_path: Path) -> None:
    from sdckit.data.files.file_checks import FORMATS

    names = {path.suffix for path in hostile_files.whole_files(tmp_path)} | {".sas7bdat"}
    names |= {Path(name).suffix for name in hostile_files.REFUSED}
    kinds = {kind: [ending for ending in FORMATS if FORMATS[ending] == kind] for kind in FORMATS.values()}
    assert [kind for kind, endings in kinds.items() if not names & set(endings)] == []
