"""The table [ledger] of a scenario."""

from __future__ import annotations

from pathlib import Path

import pytest

import sdckit as sdc
from sdckit.data.scenarios.ledger_place import LedgerPlace

PLACE = {"folder": "ledger", "key": "keys/ledger.key", "people": "wave 2", "id": "person", "within": 2}


def test_it_is_written_and_read_as_it_was_given(tmp_path: Path) -> None:
    scenario = sdc.Scenario(keys=["sex"], ledger=PLACE, thresholds={"differencing": 0.0})
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    again = sdc.Scenario.from_toml(file)
    assert again == scenario
    assert again.ledger is not None
    assert again.ledger.declared == PLACE
    assert again.folder == tmp_path
    assert again.columns == ("sex", "person")


def test_paths_may_be_paths() -> None:
    assert LedgerPlace(folder=Path("a"), key=Path("b")).declared == {"folder": "a", "key": "b"}


def test_the_id_goes_where_a_file_does_not_have_it() -> None:
    scenario = sdc.Scenario(keys=["sex"], ledger=PLACE).narrowed(["sex"])
    assert scenario.ledger is not None
    assert scenario.ledger.id is None
    assert sdc.Scenario(keys=["sex"]).narrowed(["sex"]).ledger is None


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ({"folder": "a"}, "ledger.key"),
        ({**PLACE, "within": 0}, "ledger.within"),
        ({**PLACE, "peeple": "x"}, "no entry 'ledger.peeple'; did you mean 'people'"),
        ("folder", "ledger"),
    ],
)
def test_what_it_cannot_be_is_told(place: object, told: str) -> None:
    with pytest.raises(sdc.ScenarioError, match=told):
        sdc.Scenario(keys=["sex"], ledger=place)  # type: ignore[arg-type]
