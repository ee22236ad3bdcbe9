"""Every row of the pages for those who come from elsewhere: our call as it stands there, and both sides' figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from draw import quiet
from golden.peers import anonymeter, arx, robosynth, sdcmicro, synthpop
from golden.peers.rows import COMING, KINDS, Row, rows_of

ROWS = [row for page in COMING for row in rows_of(page)]
TRIALS = {
    name: module.TRY.by_row
    for name, module in {
        "anonymeter": anonymeter, "arx": arx, "robosynth": robosynth, "sdcmicro": sdcmicro, "synthpop": synthpop,
    }.items()
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.page}: {row.theirs[:60]}")
def test_the_row(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert row.theirs in TRIALS[row.page], "nothing is tried of this row"
    with quiet():
        TRIALS[row.page][row.theirs](row)
    assert row.carried_out == set(range(len(row.calls))), "a call of the row was not carried out"
    assert row.names <= row.read, f"not read: {sorted(row.names - row.read)}"
    assert row.figures == row.outcome, "the last column says what is compared"


def test_every_row_says_what_is_compared() -> None:
    assert {row.page for row in ROWS} == set(TRIALS) == {page.stem for page in COMING}
    assert not [f"{row.page}: {row.theirs}" for row in ROWS if row.figures not in KINDS]


def test_no_trial_is_left_over() -> None:
    on_pages = {(row.page, row.theirs) for row in ROWS}
    assert not [
        (page, theirs) for page, trials in TRIALS.items() for theirs in trials if (page, theirs) not in on_pages
    ]
    assert len(on_pages) == len(ROWS), "two rows of a page begin alike"
