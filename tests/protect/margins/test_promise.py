"""What a log of protected margins claims, held against the noise that it lists."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

from sdckit.errors import DataError
from sdckit.protect.margins import promise
from sdckit.protect.margins.privacy_budget import Spent, rho_of, scale_of
from sdckit.protect.margins.promise import change_of, checked_promise
from sdckit.protect.margins.synthesize_margins import MarginsChange

RHO = rho_of(1, 1e-6)


def a_change(rows: int = 2, **other: Any) -> MarginsChange:
    """Half of ρ for each of two tables, of persons with so many rows."""
    spent = tuple(Spent("cliques", (name, "sex"), scale_of(RHO / 2, rows), RHO / 2) for name in ("age", "job"))
    how: dict[str, Any] = {"spent": spent, "kept": (("age", "sex"), ("job", "sex")), "error": (0.1, math.nan)}
    how |= {"epsilon": 1.0, "delta": 1e-6, "rho": RHO}
    given = {"epsilon": 1.0, "delta": 1e-6, "max_rows": rows}
    return MarginsChange("synthesize_margins", 100, {}, given, **(how | other))


def test_noise_that_adds_up() -> None:
    looked = checked_promise(a_change())
    assert (looked.adds_up, looked.reason) == (True, "")


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"spent": (Spent("cliques", ("age",), 1.0, RHO),)}, "the noise of age .cliques. does not cost"),
        ({"rho": RHO / 2}, "its measurements spend"),
        ({"epsilon": 0.5}, "its noise gives ε = 1, and it claims 0.5"),
        ({"parameters": {"epsilon": 0.9, "max_rows": 2}}, "it claims 0.9"),
        ({"parameters": {"epsilon": 1.0, "max_rows": 5}}, "does not cost"),
        ({"delta": 0.5}, "the δ that was asked is not"),
        ({"spent": ()}, "claims an ε and lists no noise"),
    ],
)
def test_a_log_that_contradicts_itself_is_refused(other: dict[str, Any], says: str) -> None:
    with pytest.raises(DataError, match=says):
        checked_promise(dataclasses.replace(a_change(), **other))


def test_what_cannot_be_verified_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = a_change(spent=(), epsilon=math.nan, delta=math.nan, rho=math.nan)
    assert checked_promise(nothing).adds_up is None
    unsaid = dataclasses.replace(a_change(), parameters={})
    assert checked_promise(unsaid).adds_up is None

    def absent(rho: float, delta: float) -> float:
        raise DataError("OpenDP")

    monkeypatch.setattr(promise, "epsilon_of", absent)
    looked = checked_promise(a_change())
    assert looked.adds_up is None
    assert "not installed" in looked.reason


def test_a_change_comes_back_from_its_log() -> None:
    change = a_change()
    written = json.loads(json.dumps(change.to_dict(internal=True)))
    again = change_of(written)
    assert isinstance(again, MarginsChange)
    assert (again.spent, again.kept, again.epsilon) == (change.spent, change.kept, 1.0)
    assert again.error[0] == 0.1
    assert math.isnan(again.error[1])
    plain = {"method": "pram", "n": 3, "changed": {}, "parameters": {}, "secret": {}, "notes": {}}
    assert not isinstance(change_of(plain), MarginsChange)
