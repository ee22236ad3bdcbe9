"""What else a reader must know of a local suppression."""

from __future__ import annotations

from sdckit.data.scenarios.roles import resolve_roles
from sdckit.protect.suppression.suppression_notes import implied_notes, notes_of


def test_notes_say_what_holds():
    roles = resolve_roles(keys=["a", "b"])
    plain = notes_of(roles, untouched=False, bound=False)
    assert set(plain) == {"check", "missing_rule", "lower_bound"}
    assert "none more than it would need alone" in plain["lower_bound"]
    assert "at_risk_unchanged" in notes_of(roles, untouched=True, bound=False)
    assert "lower_bound_alone" in notes_of(roles, untouched=False, bound=True)["lower_bound"]


def test_what_follows_is_told_with_what_to_do_and_never_how_many():
    assert implied_notes(0, bound=False) == {}
    assert "not counted" in implied_notes(None, bound=False)["n_implied"]
    assert "hide_implied=True" in implied_notes(3, bound=False)["n_implied"]
    assert implied_notes(3, bound=True) == implied_notes(4711, bound=True)
    assert "go together" in implied_notes(0, bound=True)["n_implied"]
