"""The map that `explore` gives: risk against loss for every recipe tried, and the ones that no other beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sdckit.data.frames import frame_of
from sdckit.display import EXACT, Displayed, counted, exact_shown
from sdckit.numerics.pareto import pareto
from sdckit.workflow.recipes.recipe_figures import FIGURES

if TYPE_CHECKING:
    import altair as alt

    from sdckit.workflow.recipes.recipe import Recipe


@dataclass(frozen=True)
class Point:
    """A recipe tried.

    Attributes
    ----------
    parameters : dict
        Its arguments by their paths.
    figures : dict of str to float
        Risk and loss in the end; those of the worst intruder.
    note : str
        Why there are no figures, where the recipe could not be applied.
    behind, small : int
        Records that carry the pMSE, at least, and those in groups of fewer than five that estimates could tell.
    """

    parameters: dict[str, Any]
    figures: dict[str, float]
    note: str = ""
    behind: int = 1
    small: int = 1


@dataclass(frozen=True, eq=False)
class Exploration(Displayed):
    """Recipes tried over a grid.

    Attributes
    ----------
    points : tuple of Point
        In the order of the grid, the last argument changing fastest.
    risk, loss : str
        The figures of the map; of both, less is better.
    on_front : tuple of bool
        Whether no other recipe has less of one and not more of the other.
    n : int
        Records of the file.
    """

    points: tuple[Point, ...]
    risk: str
    loss: str
    n: int
    k: int
    recipe: Recipe = field(repr=False)
    backend: Any = field(repr=False)

    @property
    def on_front(self) -> tuple[bool, ...]:
        """Which points no other beats."""
        return pareto([(one.figures[self.risk], one.figures[self.loss]) for one in self.points])

    @property
    def table(self) -> Any:
        """A row per recipe: its arguments, the figures, ``front``, and a ``note`` where it could not be applied."""
        return self._frame([True] * len(self.points))

    @property
    def front(self) -> Any:
        """The rows of the table that no other beats, the least risk first."""
        return self._frame(self.on_front, ordered=True)

    def recipe_of(self, row: int) -> Recipe:
        """The recipe of a row of the table, counted from 1."""
        made = self.recipe
        for path, value in self.points[row - 1].parameters.items():
            made = made.with_argument(path, value)
        return made

    def plot(self, *, internal: bool = False) -> alt.Chart:
        """An Altair chart of the map; figures protected unless `internal`, the front that of the figures shown."""
        from sdckit.report.chapters.map import map_chart, plain_map

        chart: alt.Chart = map_chart(plain_map(self, internal=internal or exact_shown.get()))
        return (
            chart.properties(title=f"{EXACT} Risk and loss of every recipe tried")
            if exact_shown.get()
            else chart
        )

    def _frame(self, wanted: Sequence[bool], *, ordered: bool = False) -> Any:
        marks = self.on_front
        chosen = [at for at, yes in enumerate(wanted) if yes]
        if ordered:
            chosen.sort(
                key=lambda at: (self.points[at].figures[self.risk], self.points[at].figures[self.loss])
            )
        points = [self.points[at] for at in chosen]
        paths = list(self.points[0].parameters)
        columns: dict[str, list[Any]] = {"row": [at + 1 for at in chosen]}
        columns |= {path: _column([one.parameters[path] for one in points]) for path in paths}
        columns |= {name: [float(one.figures[name]) for one in points] for name in FIGURES}
        columns |= {"front": [marks[at] for at in chosen], "note": [one.note for one in points]}
        return frame_of(columns, self.backend)

    def _repr_html_(self) -> str:
        from sdckit.report.notebook import map_html

        html: str = map_html(self)
        return html

    def __repr__(self) -> str:
        return (
            f"Exploration({counted(len(self.points), 'recipe')} on {counted(self.n, 'record')}, "
            f"{sum(self.on_front)} on the front of {self.risk} and {self.loss})"
        )


def _column(values: list[Any]) -> list[Any]:
    """Values of one argument as a column: numbers and texts as they are, others in words."""
    simple = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    if simple or all(isinstance(one, str) for one in values):
        return [float(one) for one in values] if any(isinstance(one, float) for one in values) else values
    return [str(one) for one in values]
