"""Base class of all results: figures for people, pipelines and documents, without any record's values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from sdckit.display import Displayed, printable
from sdckit.errors import DataError

if TYPE_CHECKING:
    import altair as alt


SCHEMA_VERSION = "1"
DIRECTIONS = {"riskier": "higher is riskier", "safer": "higher is safer", "reference": "to compare others with"}


@dataclass(frozen=True)
class FileFigure:
    """Definition of a figure of a whole file: the column of record values it is computed from, and how.

    Attributes
    ----------
    name : str
        As in `summary`.
    column : str
        Name of the values of records; "" for a figure that is not computed from record values.
    how : {"mean", "sum", "min", "max"}
        The aggregation. A mean is a rate: it has a denominator.
    below, above : float, optional
        The figure counts the records whose value is below, or above, this limit.
    among : str
        A column of weights, mostly 0 or 1, that selects the records of the mean; "" for all. Records whose value is
        NaN are left out.
    of : str
        What the denominator of a rate counts, in words.
    base : str
        The figure that is the denominator's number; "" where the result does not hold it.
    higher : {"riskier", "safer", "reference"}
        What a higher value means.
    """

    name: str
    column: str = ""
    how: Literal["mean", "sum", "min", "max"] = "mean"
    below: float | None = None
    above: float | None = None
    among: str = ""
    of: str = "records"
    base: str = "n"
    higher: Literal["riskier", "safer", "reference"] = "riskier"


def mean_and_sum(mean: str, total: str, column: str, **what: Any) -> tuple[FileFigure, FileFigure]:
    """A rate and its numerator, from the same values of records.

    >>> [figure.how for figure in mean_and_sum("rate", "n_above", "risk", above=0.1)]
    ['mean', 'sum']
    """
    return FileFigure(mean, column, **what), FileFigure(total, column, "sum", **what)


MOST_ROWS = 20  # of a summary
Row = TypeVar("Row")


class LetGo:
    """Placeholder for the data of a result that was pickled."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise DataError("this result has let go of the data (it was pickled); measure again")


class Result(Displayed):
    """What every measure returns: frozen, read by attribute, `summary`, `records` and `to_dict`.

    A subclass is a frozen dataclass; `figures` names its file-level attributes. The data behind a result
    are dropped when it is pickled, after its figures were computed.
    """

    measure: ClassVar[str]
    figures: ClassVar[tuple[str, ...]]
    dropped: ClassVar[tuple[str, ...]] = ("cells",)

    def _flat(self) -> list[tuple[str, float]]:
        """Names and values of all figures, with a figure for each threshold or variable."""
        return [pair for name in self.figures for pair in _spread(name, getattr(self, name))]

    def summary(self) -> Any:
        """The figures that matter most as a small frame (``figure``, ``value``) of the caller's engine.

        At most 20 rows: figures that have many values are left out as a whole, `details` has all. PyArrow for a plan.
        """
        return self._two_columns(few([_spread(name, getattr(self, name)) for name in self.figures]))

    def details(self) -> Any:
        """Every figure as a frame (``figure``, ``value``) of the caller's engine; PyArrow for a plan."""
        return self._two_columns(self._flat())

    def _two_columns(self, flat: Sequence[tuple[str, float]]) -> Any:
        import narwhals.stable.v2 as nw

        columns = {"figure": [name for name, _ in flat], "value": [value for _, value in flat]}
        return nw.from_dict(columns, backend=self._backend()).to_native()

    def _backend(self) -> Any:
        cells = self.__dict__.get("cells")
        source = None if isinstance(cells, LetGo) else getattr(cells, "source", None)
        return "pyarrow" if source is None else source.implementation

    def to_dict(self) -> dict[str, Any]:
        """All figures, exact and ready for JSON; undefined ones are null with the reason under ``notes``."""
        rule, rates = self._rule(), self.rates()
        return {
            "schema_version": SCHEMA_VERSION,
            "measure": self.measure,
            **({"missing_rule": rule} if rule else {}),
            "figures": {name: json_ready(getattr(self, name)) for name in self.figures},
            **({"rates": rates} if rates else {}),
            "notes": dict(getattr(self, "notes", {})),
        }

    def file_figures(self) -> Sequence[FileFigure]:
        """Definitions of the figures of the file, the leading one first; empty if none are declared."""
        return ()

    def rates(self) -> dict[str, dict[str, Any]]:
        """For every rate what its denominator counts, its value if known, and what a higher value means."""
        return {
            file_figure.name: {
                "of": file_figure.of,
                "n": json_ready(getattr(self, file_figure.base) if file_figure.base else None),
                "direction": DIRECTIONS[file_figure.higher],
            }
            for file_figure in self.file_figures()
            if file_figure.how == "mean"
        }

    def _rule(self) -> str:
        """The rule for missing key values in words, if the measure has keys."""
        cells = self.__dict__.get("cells")
        if isinstance(cells, LetGo):
            return str(self.__dict__.get("let_go_rule", ""))
        return str(getattr(cells, "missing_rule", ""))

    def plot(self, *, internal: bool = False) -> alt.Chart:
        """An Altair chart of the figures, protected unless `internal`: a chart can be saved and passed on."""
        return self._plot(internal=internal)

    def _plot(self, kind: str = "", *, internal: bool) -> alt.Chart:
        """Draw the chart of its documents, or another kind that its view offers."""
        from sdckit.report.notebook import result_chart

        chart: alt.Chart = result_chart(self, internal=internal, kind=kind)
        return chart

    def _repr_html_(self) -> str:
        from sdckit.report.notebook import notebook_html

        return notebook_html(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value:.6g}" for name, value in self._flat()[:12])
        rule = self._rule()
        return printable(f"{type(self).__name__}({shown}{f'; {rule}' if rule else ''})")

    def __getstate__(self) -> dict[str, Any]:
        # No other computed attributes: they may hold values by record, or by levels that few records have.
        kept = (*self.figures, *(name for name in ("notes", "missing_rule") if hasattr(self, name)))
        for name in kept:
            getattr(self, name)
        names = {item.name for item in fields(self)} | set(kept)  # type: ignore[arg-type]
        state = {name: value for name, value in self.__dict__.items() if name in names}
        state["let_go_rule"] = self._rule()
        for item in fields(self):  # type: ignore[arg-type]
            if item.name in self.dropped:
                state[item.name] = LetGo()
        return state

    def __copy__(self) -> Result:
        return self  # frozen: a copy would be the same


def _spread(name: str, value: object) -> list[tuple[str, float]]:
    if isinstance(value, Mapping):
        return [pair for key, part in value.items() for pair in _spread(f"{name}[{key}]", part)]
    if isinstance(value, (tuple, list)):
        return [pair for i, part in enumerate(value, 1) for pair in _spread(f"{name}[{i}]", part)]
    if isinstance(value, (int, float)):
        return [(name, float(value))]
    return []


def few(parts: Sequence[Sequence[Row]], most: int = MOST_ROWS) -> list[Row]:
    """Whole parts that fit into `most` rows, shortest first; if none fits, the first rows.

    >>> few([["a"], ["b"] * 9, ["c", "d"]], 4), few([["a"] * 9], 4)
    (['a', 'c', 'd'], ['a', 'a', 'a', 'a'])
    """
    left, kept = most, set()
    for place in sorted(range(len(parts)), key=lambda place: len(parts[place])):
        if len(parts[place]) <= left:
            left -= len(parts[place])
            kept.add(place)
    rows = [row for place in sorted(kept) for row in parts[place]]
    return rows or [row for part in parts for row in part][:most]


def leading(parts: Sequence[Sequence[Row]], most: int = MOST_ROWS) -> list[Row]:
    """The first row of every part, then the second of each, up to `most` rows; in the order of the parts.

    >>> leading([["a", "b", "c"], ["x"], ["y", "z"]], 5)
    ['a', 'b', 'x', 'y', 'z']
    """
    turns = sorted((turn, place) for place, part in enumerate(parts) for turn in range(len(part)))
    return [parts[place][turn] for place, turn in sorted((place, turn) for turn, place in turns[:most])]


def json_ready(value: object) -> Any:
    """Plain JSON: undefined numbers are null, keys are text.

    Examples
    --------
    >>> json_ready({2: (1, float("nan"))})
    {'2': [1, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): json_ready(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [json_ready(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
