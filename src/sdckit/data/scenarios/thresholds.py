"""The limits a release must keep: what each is, and which numbers it may be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from sdckit.data.limits import declarable
from sdckit.data.scenarios.scenario_checks import explain
from sdckit.errors import ScenarioError

VALUES: dict[str, Any] = {
    "level": Annotated[int, Field(strict=True, ge=2)],
    "share": Annotated[float, Field(strict=True, gt=0, le=1)],
    "share from 0": Annotated[float, Field(strict=True, ge=0, le=1)],
}
if TYPE_CHECKING:
    _Limits = BaseModel
else:
    _Limits = create_model(
        "_Limits",
        __config__=ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True),
        **{name: (VALUES[kind.values] | None, None) for name, kind in declarable().items()},
    )


class Thresholds(_Limits):
    """The limits a release must keep; those not given are not checked.

    Parameters
    ----------
    k
        Every combination of keys is held by at least k records (2 or more).
    risk
        No record's individual risk exceeds this (above 0, at most 1).
    l
        Every combination of keys holds at least l well-represented sensitive values (2 or more).
    global_risk, household_risk
        Limits on the expected share of records re-identified and on the largest household risk.
    match_risk, replicated_uniques, correctly_disclosed
        Limits on a release beside its original, as shares of the records: rows expected to be matched back,
        unique in both files, disclosed correctly (DiSCO).
    residual_risk
        Limit on the residual risk of every simulated attack on a release, beside people never in the file.
    recoverable
        Limit on the share of the values changed in a column that the release itself gives back for certain (0: none
        may be).
    household_uniques
        Limit on the share of the households that are alone with their composition: their size and what is known of
        their members (0: none may be).
    differencing
        Limit on the share of the records of which something is given away together with earlier releases of the
        ledger (0: of none).
    joint_recoverable
        The same of the values hidden in a column that the release gives back together with the tables published beside
        it.

    Examples
    --------
    >>> Thresholds(k=3, risk=0.1).declared
    {'k': 3, 'risk': 0.1}
    """

    if TYPE_CHECKING:  # the fields are those of the rows in `sdckit.data.limits`
        k: int | None
        risk: float | None
        l: int | None  # noqa: E741 - the name the literature uses
        global_risk: float | None
        household_risk: float | None
        household_uniques: float | None
        match_risk: float | None
        replicated_uniques: float | None
        correctly_disclosed: float | None
        residual_risk: float | None
        recoverable: float | None
        differencing: float | None
        joint_recoverable: float | None

    def __init__(
        self,
        /,
        *,
        k: int | None = None,
        risk: float | None = None,
        l: int | None = None,  # noqa: E741
        global_risk: float | None = None,
        household_risk: float | None = None,
        household_uniques: float | None = None,
        match_risk: float | None = None,
        replicated_uniques: float | None = None,
        correctly_disclosed: float | None = None,
        residual_risk: float | None = None,
        recoverable: float | None = None,
        differencing: float | None = None,
        joint_recoverable: float | None = None,
        **unknown: object,
    ) -> None:
        given = {name: limit for name, limit in locals().items() if name in declarable()}
        try:
            super().__init__(**given, **unknown)
        except ValidationError as error:
            fields = list(type(self).model_fields)
            raise ScenarioError(explain(error, fields, prefix="thresholds")) from None

    @property
    def declared(self) -> dict[str, int | float]:
        """The limits that were given, by name."""
        return {name: value for name, value in self if value is not None}


def read_limits(place: str, entries: Mapping[str, Any]) -> Thresholds:
    """Read limits that stand elsewhere than under ``[thresholds]``; complaints name their place.

    Examples
    --------
    >>> read_limits("release_types.public-use", {"k": 10}).declared
    {'k': 10}
    """
    made = Thresholds.__new__(Thresholds)
    try:
        BaseModel.__init__(made, **{str(name): limit for name, limit in entries.items()})
    except ValidationError as error:
        raise ScenarioError(explain(error, list(Thresholds.model_fields), prefix=place)) from None
    return made
