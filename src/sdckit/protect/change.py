"""What a protection method gives back: the changed data, and the record of the change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sdckit.data.outgoing.only_records import only_records
from sdckit.display import Displayed, exact_shown
from sdckit.result import SCHEMA_VERSION, json_ready


@dataclass(frozen=True)
class Change(Displayed):
    """What was changed, and how.

    Attributes
    ----------
    method : str
        The protection method.
    n : int
        Records of the data.
    changed : dict of str to int
        Values changed, by variable.
    parameters : dict
        How the method was called; safe to publish.
    secret : dict
        What would help to undo it (seed, transition matrices, keys); for the internal log only.
    notes : dict of str to str
        What else a reader must know.
    """

    instead_of_a_frame = "protection methods return data and change: give .data of what was returned"

    method: str
    n: int
    changed: dict[str, int]
    parameters: dict[str, Any] = field(default_factory=dict)
    secret: dict[str, Any] = field(default_factory=dict, repr=False)
    notes: dict[str, str] = field(default_factory=dict)

    @property
    def n_changed(self) -> int:
        """Values changed over all variables."""
        return sum(self.changed.values())

    def to_dict(self, *, internal: bool = False) -> dict[str, Any]:
        """The change ready for JSON; exact and with what is secret only for an internal log.

        Else counts are rounded and small ones hidden, as in every document: ``{"text": "<5", "value": None, ...}``.
        """
        exact = {"n": self.n, "changed": dict(self.changed), "notes": dict(self.notes)}
        found = {
            "schema_version": SCHEMA_VERSION,
            "method": self.method,
            "parameters": json_ready(self.parameters),
        }
        if internal:
            return {**found, **exact, "secret": json_ready(self.secret)}
        from sdckit.report.changes import protected_change

        return {**found, **protected_change(self.n, self.changed, self.notes)}

    def _repr_html_(self) -> str:
        from sdckit.report.changes import change_html

        return change_html(self.to_dict(internal=exact_shown.get()), exact=exact_shown.get())

    def __getstate__(self) -> dict[str, Any]:
        """Without what is secret: a pickle travels, and the log is where secrets are kept."""
        return {**self.__dict__, "secret": {}}


class _Pair(NamedTuple):
    data: Any
    change: Change


class Protected(Displayed, _Pair):
    """What every protection method gives back; it unpacks as ``data, change``.

    Attributes
    ----------
    data : frame
        The changed data, of the caller's engine; a list of frames where several were made. It holds nothing but its
        records: categories in use only, no metadata, nothing beneath missing values.
    change : Change
        What was changed, and how.
    """

    __slots__ = ()

    def __new__(cls, data: Any, change: Change) -> Protected:
        """Whatever a method made, only its records go on: an unused category tells what was taken out."""
        return super().__new__(cls, only_records(data), change)

    def _repr_html_(self) -> str:
        return self.change._repr_html_()

    @property
    def instead_of_a_frame(self) -> str:
        """What to give where a frame is asked for."""
        return "give its .data"
