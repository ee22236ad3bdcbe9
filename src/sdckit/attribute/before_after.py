"""What a measure finds for every record from the original itself and from the release, side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from sdckit.cells.record_result import PairRecordResult
from sdckit.data import arguments
from sdckit.numerics.array_types import Floats
from sdckit.numerics.joint_counts import joint_counts


@dataclass(frozen=True, eq=False, repr=False)
class BeforeAfter(PairRecordResult, ABC):
    """Base of the results on two files that have a figure of every record before and after."""

    @abstractmethod
    def sides(self) -> tuple[Floats, Floats]:
        """The figure of each record with the original, and with the release (mean over the releases)."""

    def pairs(self) -> Any:
        """The records by their figure with the original and with the release together, as a scatter plot needs them.

        Returns
        -------
        frame
            ``original``, ``released``, ``n`` (records that have both). Confidential: a pair may be that of one record.

        Raises
        ------
        DataError
            The result was pickled and has let go of the data.
        """
        original, released, n = joint_counts(*self.sides())
        return self.pair.table(
            {"original": original.tolist(), "released": released.tolist(), "n": n.tolist()}
        )

    def plot(self, *, internal: bool = False, scatter: bool = False) -> Any:
        """Draw the records by their figure, protected unless `internal`: a chart can be saved and passed on.

        Parameters
        ----------
        internal : bool
            Exact counts.
        scatter : bool
            Draw each record's figure with the release over the one with the original, points as large as the number
            of records; protected in squares, of which those with few records are left out.

        Returns
        -------
        altair.Chart

        Raises
        ------
        DataError
            A file of fewer than 50 records, unless internal; `scatter` of a result that was pickled.
        """
        return self._plot("scatter" if arguments.flag(scatter, "scatter") else "", internal=internal)
