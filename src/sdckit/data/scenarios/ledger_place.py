"""How a scenario names the ledger of earlier releases: the table ``[ledger]``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sdckit.data.scenarios.scenario_checks import explain
from sdckit.errors import ScenarioError

_Name = Annotated[str, Field(min_length=1)]


class LedgerPlace(BaseModel):
    """A ledger of earlier releases, and how a release is held against them.

    Parameters
    ----------
    folder, key
        The folder of the ledger and the file of its key; paths start where the scenario file lies.
    survey
        What the ledger must be of; not checked where it is left out.
    people
        Whom the release is about; releases of other people are compared by their counts only. Left out: all are taken
        to be about the same people.
    id
        A column with a value of its own for each person, as the ledger was given it.
    within
        Differences of counts up to this are looked at (1 or more).

    Examples
    --------
    >>> LedgerPlace(folder="ledger", key="ledger.key", people="2024").declared
    {'folder': 'ledger', 'key': 'ledger.key', 'people': '2024'}
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    folder: _Name
    key: _Name
    survey: _Name | None = None
    people: _Name | None = None
    id: _Name | None = None
    within: Annotated[int, Field(strict=True, ge=1)] = 3

    def __init__(
        self,
        /,
        *,
        folder: str | Path | None = None,
        key: str | Path | None = None,
        survey: str | None = None,
        people: str | None = None,
        id: str | None = None,
        within: int = 3,
        **unknown: object,
    ) -> None:
        paths = {"folder": folder, "key": key}
        given: dict[str, Any] = {
            name: path.as_posix() if isinstance(path, Path) else path for name, path in paths.items()
        }
        given |= {"survey": survey, "people": people, "id": id, "within": within}
        try:
            super().__init__(**given, **unknown)
        except ValidationError as error:
            raise ScenarioError(explain(error, list(type(self).model_fields), prefix="ledger")) from None

    @property
    def declared(self) -> dict[str, Any]:
        """The entries that are not at their default, by name."""
        return {
            name: getattr(self, name)
            for name, field in type(self).model_fields.items()
            if getattr(self, name) != field.default
        }
