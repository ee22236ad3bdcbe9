"""What `assess` gives for one file: every result by its place, and the doors to its documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from sdckit.display import counted
from sdckit.errors import DataError
from sdckit.result import LetGo, leading
from sdckit.workflow.assessed import Assessed, IntruderAssessment

NAMES = ("intruder", "measure", "figure", "value")
LET_GO = "this assessment has let go of the data (it was pickled); assess again"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Assessment(Assessed):
    """Who can be recognised in a file, how surely, and what would be learnt.

    ``assessment["default"]["individual_risk"]`` is a result, by intruder and place.

    Attributes
    ----------
    scenario : Scenario
    n : int
        Records.
    engine : str
        What held the data: "polars", "pandas", "duckdb", ...
    intruders : tuple of IntruderAssessment
        One per intruder of the scenario.
    warnings : tuple of str
        What in the data makes a figure say less than it seems to.
    version, date : str
        Of sdckit, and of the assessment (ISO).
    measures : tuple of str
        Further measures that were asked for.
    by : tuple of str
        Columns of subgroups.
    """

    schema: ClassVar[str] = "sdckit/assessment"
    n: int
    engine: str
    backend: Any = field(default="pyarrow", repr=False)

    def _rows(self) -> Iterator[tuple[str, str, str, float]]:
        for intruder in self.intruders:
            for place, result in intruder.results.items():
                for figure, value in result._flat():
                    yield intruder.name, place, figure, value

    def summary(self) -> Any:
        """The leading figures of every measure as a frame like `details`, of at most 20 rows."""
        return self._frame(NAMES, leading(self._parts()), self.backend)

    def details(self) -> Any:
        """Every figure as a frame (``intruder``, ``measure``, ``figure``, ``value``) of the caller's engine."""
        return self._frame(NAMES, self._rows(), self.backend)

    def _parts(self) -> list[list[tuple[str, str, str, float]]]:
        """The rows of each intruder and measure; how many records there are is no news."""
        rows = (row for row in self._rows() if row[2] != "n")
        return [list(part) for _, part in groupby(rows, key=itemgetter(0, 1))]

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact, ready for JSON; for the session, not for release (`to_json` writes that)."""
        return self._dict({"n": self.n, "engine": self.engine})

    def n_at_risk(self) -> dict[str, int]:
        """Records that are unique, or beyond the thresholds k and risk, by intruder."""
        self._need_data()
        return {one.name: self._cells(one).count_where(*self._risk_limits()) for one in self.intruders}

    def at_risk(self, limit: int = 1000) -> list[dict[str, Any]]:
        """The same records: row (from 1), keys, figures; at most `limit` by intruder, the riskiest first.

        Confidential: for the session and for internal reports only. A plan has no row numbers.
        """
        self._need_data()
        return [
            {"intruder": one.name, **row}
            for one in self.intruders
            for row in self._cells(one).rows_where(*self._risk_limits(), limit)
        ]

    @staticmethod
    def _cells(one: IntruderAssessment) -> Any:
        return one["individual_risk"].__dict__["cells"]

    @property
    def _let_go(self) -> bool:
        return any(isinstance(self._cells(one), LetGo) for one in self.intruders)

    def _need_data(self) -> None:
        if self._let_go:
            raise DataError(LET_GO)

    def _risk_limits(self) -> tuple[float, float | None]:
        return (self.scenario.limits.k or 2) - 1e-9, self.scenario.limits.risk

    def _repr_html_(self) -> str:
        return f"<p>{LET_GO}</p>" if self._let_go else super()._repr_html_()

    def _first_line(self) -> str:
        return f"Assessment of {counted(self.n, 'record')} against {counted(len(self.intruders), 'intruder')}"
