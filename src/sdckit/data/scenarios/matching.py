"""The table ``[matching]`` of a scenario: how rows of a release are matched to the original."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, field_validator

from sdckit.data.nearest import did_you_mean
from sdckit.data.scenarios.scenario_checks import Name, ScenarioTable
from sdckit.errors import ScenarioError


class Matching(ScenarioTable):
    """How an intruder who knows a person's values searches for the row made from them in a release.

    Parameters
    ----------
    known
        Keys that the release leaves as they were; matched exactly unless a table `width`, or the scenario's
        ``numeric``, names them.
    synthetic
        Keys that were replaced or perturbed. Keys in neither list: what the release changed is synthetic.
    width
        How far a number may be off: one figure for all numbers that are synthetic or in the scenario's ``numeric``, or
        a table with one per key
        (0 or more; 0.10 where not given).
    relative
        Whether a width is a share of the value (True, the default) or in the variable's unit; or a table with
        one per key, where keys not named have a share.
    tol
        Slack for rounding errors at the ends of an interval, 0 or more.
    high_risk
        Match risk above which a record counts as one of high risk (0 or more, below 1).

    Examples
    --------
    >>> Matching(width={"income": 0.1, "age": 2}, relative={"age": False}).declared
    {'width': {'income': 0.1, 'age': 2.0}, 'relative': {'age': False}}
    """

    place = "matching"

    known: tuple[Name, ...] = ()
    synthetic: tuple[Name, ...] = ()
    width: float | dict[str, float] | None = None
    relative: bool | dict[str, bool] = True
    tol: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] = 1e-9
    high_risk: Annotated[float, Field(strict=True, ge=0, lt=1)] = 0.5

    def __init__(
        self,
        /,
        *,
        known: Sequence[str] = (),
        synthetic: Sequence[str] = (),
        width: float | Mapping[str, float] | None = None,
        relative: bool | Mapping[str, bool] = True,
        tol: float = 1e-9,
        high_risk: float = 0.5,
        **unknown: object,
    ) -> None:
        given = {
            "known": known, "synthetic": synthetic, "width": width, "relative": relative, "tol": tol,
            "high_risk": high_risk,
        }  # fmt: skip
        super().__init__(**given, **unknown)

    @field_validator("known", "synthetic", mode="before")
    @classmethod
    def _ordered(cls, value: Any) -> Any:
        return None if isinstance(value, set | frozenset) else value

    @field_validator("width", mode="before")
    @classmethod
    def _widths(cls, value: Any) -> Any:
        if value is None:
            return None
        widths = {}
        for name, entry in _by_name(value).items():
            if type(entry) not in (int, float) or not (0 <= entry < math.inf):
                more = "" if name else ", or a table of them per key"
                raise ScenarioError(f"{_place('width', name)} must be a number of 0 or more{more}")
            widths[name] = float(entry)
        return widths[""] if not isinstance(value, Mapping) else widths

    @field_validator("relative", mode="before")
    @classmethod
    def _shares(cls, value: Any) -> Any:
        for name, entry in _by_name(value).items():
            if not isinstance(entry, bool):
                more = "" if name else ", or a table of them per key"
                raise ScenarioError(f"{_place('relative', name)} must be true or false{more}")
        return dict(value) if isinstance(value, Mapping) else value

    @property
    def tables(self) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
        """The declared entries as tables of a TOML file."""
        entries = self.declared
        inner = {name: value for name, value in entries.items() if isinstance(value, dict)}
        plain = {name: value for name, value in entries.items() if name not in inner}
        outer: list[tuple[tuple[str, ...], dict[str, Any]]] = [(("matching",), plain)] if plain else []
        return outer + [(("matching", name), value) for name, value in inner.items()]

    def is_relative(self, name: str) -> bool:
        """Whether the width of a key is a share of the value."""
        return self.relative.get(name, True) if isinstance(self.relative, dict) else self.relative

    def among(self, keys: Collection[str]) -> Matching:
        """Restricted to these keys."""
        entries: dict[str, Any] = {name: getattr(self, name) for name in type(self).model_fields}
        for name, value in entries.items():
            if isinstance(value, tuple):
                entries[name] = tuple(key for key in value if key in keys)
            elif isinstance(value, dict):
                default = None if name == "width" else True
                entries[name] = {key: entry for key, entry in value.items() if key in keys} or default
        return Matching(**entries)

    def check(self, keys: Collection[str]) -> None:
        """Raise a `ScenarioError` at the first entry that is not a key of any intruder, or at a contradiction."""
        for entry in ("known", "synthetic", "width", "relative"):
            value = getattr(self, entry)
            for i, name in enumerate(listed := list(value) if isinstance(value, tuple | dict) else []):
                if name not in keys:
                    words = f"matching.{entry} names '{name}', no key of an intruder"
                    raise ScenarioError(f"{words}; {did_you_mean(name, keys)}")
                if name in listed[:i]:
                    raise ScenarioError(f"matching.{entry} names the key '{name}' twice; name it once")
        if both := [name for name in self.known if name in self.synthetic]:
            words = f"the key '{both[0]}' is in matching.known and in matching.synthetic"
            raise ScenarioError(f"{words}; it was either left as it was or replaced")


def merged(declared: Matching | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """Declared entries, overridden by given ones; tables are merged key by key.

    Examples
    --------
    >>> merged(Matching(width={"age": 2}, tol=0.1), {"width": {"income": 0.2}})
    {'width': {'age': 2.0, 'income': 0.2}, 'tol': 0.1}
    """
    entries = {} if declared is None else dict(declared.declared)
    for name, value in given.items():
        before = entries.get(name)
        entries[name] = {**before, **value} if isinstance(before, dict) and isinstance(value, dict) else value
    return entries


def _by_name(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {"": value}


def _place(entry: str, name: str) -> str:
    return f"matching.{entry}" + (f".{name}" if name else "")
