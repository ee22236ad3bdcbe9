"""Deterministic recodings of a recipe or log, which are applied to the original before it is compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sdckit.cells.pair import IN_BANDS, IN_STEPS, Source
from sdckit.data import hierarchy, seeds
from sdckit.data.columns import distinct_values, float_values
from sdckit.data.files.file_limits import toml_of
from sdckit.data.frames import really_has
from sdckit.data.methods import METHODS, kind_of
from sdckit.data.outgoing.only_records import on_the_way
from sdckit.data.replace import open_eager, with_levels
from sdckit.data.scenarios.scenario import Scenario
from sdckit.errors import DataError, FileFormatError, ScenarioError, sure
from sdckit.protect.change import Change
from sdckit.protect.margins.promise import Promise, checked_promise
from sdckit.protect.recoding.recode import Bands, only_compared, regroup
from sdckit.workflow.recipes import recipe_checks, recipe_log, recipe_steps
from sdckit.workflow.recipes.run_step import run_step

if TYPE_CHECKING:
    from sdckit.workflow.recipes.recipe import Recipe

# One recoding that can be applied to any file: a step of a recipe, bands, or groups of values.


NO_DRAWS = seeds.Mixed(bytes(16))  # a recoding draws nothing


class Recoding(Protocol):
    """Recodes one column of a frame."""

    @property
    def column(self) -> str:
        """The column."""

    @property
    def kind(self) -> str:
        """What is done, in words."""

    def apply(self, data: Any) -> Any:
        """Recode a frame in memory; the frame given is not modified."""


@dataclass(frozen=True, eq=False)
class Repeated:
    """A step of a recipe; `own_values` says that it takes something from the values of the file itself."""

    number: int
    step: recipe_checks.StepLike
    folder: Path | None = None
    own_values: str = ""

    @property
    def column(self) -> str:
        """The column."""
        return str(self.step.arguments["column"])

    @property
    def kind(self) -> str:
        """What is done, in words."""
        given, trace = self.step.arguments, METHODS[self.step.method].trace
        if trace == "rounded":
            return "numbers rounded"
        if trace == "limit":
            ends = [word for end, word in (("top", "largest"), ("bottom", "smallest")) if end in given]
            return f"the {' and '.join(ends)} numbers brought to a limit"
        if "bands" in given:
            in_steps = isinstance(given["bands"], int) and given["bands"] > 2 and given.get("how") != "equal_frequency"
            return IN_STEPS if in_steps else IN_BANDS
        if "period" in given:
            return "dates by period"
        return "values in groups" if "groups" in given else "values up a hierarchy"

    def apply(self, data: Any) -> Any:
        """Run the step; what it makes is compared and goes nowhere."""
        with on_the_way(), only_compared():
            return run_step(self.number, self.step, data, scenario=None, folder=self.folder, mixed=NO_DRAWS).data

    def elsewhere(self) -> Recoding:
        """The same step for a file other than the original, such as the control file.

        Raises `DataError`: the step takes edges or means from the file that it is applied to.
        """
        if self.own_values:
            raise DataError(
                f"the control file cannot be recoded alike: {self.step.place(self.number)} takes {self.own_values} "
                "from the file's own values; write the numbers into the recipe, or leave the column out"
            )
        return self


@dataclass(frozen=True, eq=False)
class Banded:
    """Numbers in bands; a number in none gets its own name where `keep`, else it is missing."""

    column: str
    bands: Bands
    keep: bool = False
    kind: str = IN_BANDS

    def apply(self, data: Any) -> Any:
        """Put the numbers into their bands."""
        frame = open_eager(data, {"column": [self.column]})
        values = float_values(frame[self.column], "bands:")
        codes, labels = self.bands.codes(values), list(self.bands.labels)
        beyond = (codes < 0) & ~np.isnan(values)
        if self.keep and beyond.any():
            others, place = np.unique(values[beyond], return_inverse=True)
            codes[beyond] = len(labels) + place
            labels += [f"{value:.12g}" for value in others.tolist()]
        return with_levels(frame, {self.column: (labels, codes)}, ordered=True)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Values in groups; a value in no group is kept where `keep`, else it is missing."""

    column: str
    new_of: Mapping[Any, Any]
    keep: bool = False
    kind: str = "values in groups"

    def apply(self, data: Any) -> Any:
        """Give each value its group."""
        frame = open_eager(data, {"column": [self.column]})
        regrouped = regroup(
            distinct_values(frame[self.column]), self.column, self.new_of,
            outside="keep" if self.keep else "missing", what="no group",
        )  # fmt: skip
        return with_levels(frame, {self.column: (regrouped.levels, regrouped.codes)})


# Parsing the labels of a column as bands that do not overlap.


SharedEdge: TypeAlias = Literal["left", "right"]
MOST = 2_000  # names of bands; a column with more different texts is no column of bands


def read_bands(labels: Sequence[str], *, shared: SharedEdge | None = None) -> Bands | None:
    """Parse the labels of a column as bands; None where one is no band, all are single numbers, or two overlap.

    `shared` says to which band an edge belongs that stands in two names, as in "30-40" and "40-50"; without it
    such names overlap.

    Examples
    --------
    >>> read_bands(["18-39", "under 18", "40+"]).labels
    ('under 18', '18-39', '40+')
    >>> read_bands(["30-40", "40-50"]) is None, read_bands(["1", "2"]) is None
    (True, True)
    >>> read_bands(["30-40", "40-50"], shared="left").codes(np.array([40.0])).tolist()
    [1]
    """
    if not 0 < len(labels) <= MOST:
        return None
    named_bands = []
    for label in labels:
        band = hierarchy.read_band(label)
        if band is None:
            return None
        named_bands.append((band, label))
    if all(band.single for band, _ in named_bands):
        return None
    named_bands.sort(key=lambda named_band: named_band[0][:2])
    bands = [band for band, _ in named_bands]
    if shared is not None:
        bands = _parted(bands, shared)
    for lower, upper in pairwise(bands):
        if lower.high > upper.low or (lower.high == upper.low and lower.has_high and upper.has_low):
            return None
    low, high = (np.array([band[i] for band in bands], np.float64) for i in (0, 1))
    has_low, has_high = (np.array([band[i] for band in bands], np.bool_) for i in (2, 3))
    return Bands(low, high, has_low, has_high, tuple(label for _, label in named_bands))


def _parted(bands: Sequence[hierarchy.Band], shared: SharedEdge) -> list[hierarchy.Band]:
    """Assign an edge shared by two dashed bands to one of them."""
    made = list(bands)
    for i, (lower, upper) in enumerate(pairwise(bands)):
        if lower.high == upper.low and lower.dashed and not lower.single:
            if shared == "left":
                made[i] = made[i]._replace(has_high=False)
            elif upper.dashed:
                made[i + 1] = made[i + 1]._replace(has_low=False)
    return made


ANOTHER_FILE = "the log is about another file"


@dataclass(frozen=True, eq=False)
class Done:
    """The original after the recodings: the frame, the recodings applied, and notes for the user.

    `unsure` are columns of which a recoding could not be repeated.
    """

    data: Any
    changes: tuple[Recoding, ...]
    notes: tuple[str, ...]
    unsure: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Recodings:
    """The recodings of a recipe, and what its log tells of the rows.

    Attributes
    ----------
    steps : tuple of StepLike
        All steps of the recipe.
    source : {"recipe", "log"}
    folder : Path or None
        Where the paths of hierarchies start.
    log : RecipeLog or None
    rows : array of int or None
        Row of the original from which each row of the release was made, where the log says so; None where
        the rows stayed where they were.
    checked : bool
        Whether the log was held against the columns of the whole file already.
    own : bool
        Whether the recipe was applied in this session: its recodings are written down then, but no warning.
    """

    steps: tuple[recipe_checks.StepLike, ...]
    source: Source
    folder: Path | None = None
    log: recipe_log.RecipeLog | None = None
    rows: NDArray[np.int64] | None = None
    checked: bool = False
    own: bool = False

    @property
    def _all_new(self) -> bool:
        """Whether the rows of the release are fully synthetic."""
        return any(recipe_steps.is_all_new(step.method, step.arguments) for step in self.steps)

    @property
    def promise(self) -> Promise | None:
        """What a log of protected margins promises.

        Raises DataError: the noise that it lists does not add up to the ε that it claims.
        """
        margins = None if self.log is None else self.log.margins
        return None if margins is None else checked_promise(margins)

    def not_drawn(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Those of some columns that no step draws anew for all records.

        A log says what was drawn; a recipe without ``columns`` draws all but the household.
        """
        drawn: set[str] = set()
        for number, step in enumerate(self.steps):
            if not METHODS[step.method].new_rows or "rows" in step.arguments:
                continue
            if METHODS[step.method].first:
                return ()
            if self.log is not None:
                drawn.update(self.log.steps[number].changed)
            else:
                drawn.update(step.arguments.get("columns", columns))
                drawn.discard(step.arguments.get("household", ""))
        return tuple(name for name in columns if name not in drawn)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that a step leaves out of the release."""
        return tuple(
            name for step in self.steps if _leaves_out(step) for name in recipe_checks.columns_mentioned([step])
        )

    @property
    def keeps_rows(self) -> bool:
        """Whether row i of a release was made from row i of the original, or `rows` says from which."""
        return not self._all_new and (self.rows is not None or not any(map(_moves_rows, self.steps)))

    @property
    def tells_rows(self) -> bool:
        """Whether a log tells which row of the original each released row was made from."""
        return self.log is not None and not self._all_new

    @property
    def tells_order(self) -> bool:
        """Whether every random order of the log can be drawn again; not one by a hash of Spark's numbers."""
        return self.log is None or all("seed" in step.secret for step in self.log.steps if _moves_rows(step))

    @property
    def homes_kept(self) -> tuple[str, ...]:
        """Columns of households that the log kept together in random order."""
        steps = () if self.log is None else self.log.steps
        return tuple(dict.fromkeys(str(step.parameters["household"]) for step in steps if _keeps_homes_together(step)))

    def recoded(self, columns: Collection[str]) -> tuple[str, ...]:
        """Those of some columns that a step recodes."""
        own = (str(step.arguments["column"]) for step in self.steps if is_recoding(step))
        return tuple(name for name in dict.fromkeys(own) if name in columns)

    @property
    def takes_from_the_data(self) -> bool:
        """Whether a recoding estimates edges or means from the values of the file."""
        return any(_from_the_data(step) for step in self.steps if is_recoding(step))

    def in_order_of(self, original: Any) -> Recodings:
        """The same with the row of the original that each released row was made from, where the log tells it."""
        known = self.log is None or self.rows is not None or self._all_new
        if known or not any(map(_moves_rows, self.steps)):
            return self
        return replace(self, rows=sure(self.log).rows(original, folder=self.folder))

    def unchanged(self, columns: Collection[str]) -> tuple[str, ...]:
        """Columns that only recodings and suppression change: a value of a release is that of the recoded original."""
        changed: set[str] = set()
        for number, step in enumerate(self.steps, 1):
            if not is_recoding(step) and METHODS[step.method].trace != "missing":
                changed.update(self._touched(number, step, columns))
        return tuple(name for name in columns if name not in changed)

    def check_file(
        self, columns: Sequence[str], n: int | None = None, *, identifiers: Collection[str] = ()
    ) -> Recodings:
        """Validate a log against the file it should be about; the identifiers need not have been read.

        Raises `DataError`: other columns, or another number of records.
        """
        log = self.log
        if log is None or log.margins is not None:  # which tells nothing of the original
            return self
        if not self.checked:
            absent = [name for name in log.columns if name not in columns]
            known = {*log.columns, *identifiers, *_identifiers_of(log)}
            more = [name for name in columns if name not in known]
            if absent or more:
                which = f"has no column {absent[0]!r}" if absent else f"has a column {more[0]!r} more"
                raise DataError(f"{ANOTHER_FILE}: the original {which}; give all of the file that protect was given")
        if n is not None and n != log.n:
            raise DataError(f"{ANOTHER_FILE}: the original has {n} records, that of the log {log.n}")
        return replace(self, checked=True)

    def check_sizes(self, sizes: Sequence[int | None], names: Sequence[str]) -> None:
        """Raise where a release has a number of rows other than the log's; a size of None is not known."""
        if self.log is None or self._all_new:
            return
        expected = self.log.n if self.rows is None else len(self.rows)
        for size, name in zip(sizes, names, strict=True):
            if size not in (None, expected):
                raise DataError(
                    f"{name} has {size} records, that of the log {expected}: the log is about another release"
                )

    def needs(self, columns: Collection[str]) -> tuple[str, ...]:
        """Further columns of the original that the recodings of these, or the order of the rows, depend on."""
        used = [
            name
            for step in self.steps
            if is_recoding(step) and step.arguments["column"] in columns
            for name in recipe_checks.columns_mentioned([step])
        ]
        if self.log is not None and any(_keeps_homes_together(step) for step in self.log.steps):
            used += self.log.columns  # the households are those that the steps before have made
        return tuple(name for name in dict.fromkeys(used) if name not in columns)

    def apply(self, data: Any, columns: Collection[str]) -> Done:
        """Apply the recodings of some columns to the original, without random steps and suppression.

        A step that estimates edges or means from values which an earlier step has perturbed is left out with a note,
        unless the log has the edges.
        """
        notes: list[str] = []
        unsure: list[str] = []
        changes: list[Recoding] = []
        touched: set[str] = set()
        for number, step in enumerate(self.steps, 1):
            if not is_recoding(step):
                touched.update(self._touched(number, step, columns))
                continue
            column, taken = str(step.arguments["column"]), _from_the_data(step)
            if column not in columns:
                continue
            change: Recoding = Repeated(number, step, self.folder, taken)
            if taken and column in touched:
                edges = self._edges(number, step)
                if edges is None:
                    notes.append(
                        f"{column}: {step.place(number)} takes {taken} from values that an earlier step had changed; "
                        "the original is compared without it"
                    )
                    unsure.append(column)
                    continue
                change = Banded(column, edges)
            data = change.apply(data)
            changes.append(change)
        return Done(data, tuple(changes), (*notes, *self._not_done()), tuple(unsure))

    def _edges(self, number: int, step: recipe_checks.StepLike) -> Any:
        """Bands of a step, parsed from their labels in the log; None where the log has none."""
        if self.log is None or METHODS[step.method].trace != "range":
            return None
        return read_bands(self.log.steps[number - 1].parameters.get("bands", ()))

    def _touched(self, number: int, step: recipe_checks.StepLike, columns: Collection[str]) -> set[str]:
        """Columns that a step changed by the log; without one, those that it may change."""
        if METHODS[step.method].first:
            return set(columns)
        if self.log is not None:
            return {name for name, count in self.log.steps[number - 1].changed.items() if count}
        if step.computes:
            return recipe_checks.columns_used([step])
        return set(columns if METHODS[step.method].unnamed else recipe_checks.columns_mentioned([step]))

    def _not_done(self) -> list[str]:
        left = [
            step.place(number)
            for number, step in enumerate(self.steps, 1)
            if not is_recoding(step) and not _leaves_out(step)
        ]
        if self.log is not None or not left:
            return []
        return [f"{', '.join(left)} of the recipe: not done to the original, being the protection that is measured"]


def _identifiers_of(log: recipe_log.RecipeLog) -> list[str]:
    """Identifiers of the scenario in a log, which `protect` does not read."""
    try:
        named = toml_of(log.scenario).get("identifiers", [])
    except ValueError:
        return []
    return [name for name in named if isinstance(name, str)]


def is_recoding(step: recipe_checks.StepLike) -> bool:
    """Whether a step is a deterministic recoding.

    Examples
    --------
    >>> from sdckit.workflow.recipes.recipe_checks import StepLike
    >>> is_recoding(StepLike("round_to", {"column": "x", "base": 5, "how": "random"}))
    False
    """
    kind = METHODS[step.method]
    return kind.recodes and all(step.arguments.get(name) != value for name, value in kind.random_with.items())


def _leaves_out(step: recipe_checks.StepLike) -> bool:
    return METHODS[step.method].effect == "gone"


def _moves_rows(step: recipe_checks.StepLike | Change) -> bool:
    return kind_of(step.method).plan == "order"


def _keeps_homes_together(change: Change) -> bool:
    """Whether a step shuffled whole households."""
    return _moves_rows(change) and change.parameters.get("household") is not None


def _from_the_data(step: recipe_checks.StepLike) -> str:
    """What a recoding estimates from the data (edges, means), in words; "" where nothing."""
    trace = METHODS[step.method].trace
    if trace == "range" and isinstance(step.arguments.get("bands"), int):
        return "the edges of its bands"
    to = step.arguments.get("to")
    takes_mean = "mean" in to.values() if isinstance(to, Mapping) else to == "mean"
    return "a mean" if trace == "limit" and takes_mean else ""


def read_recodings(
    recipe: Recipe | str | Path | Recodings | None, log: recipe_log.RecipeLog | str | Path | None
) -> Recodings | None:
    """Read ``recipe=`` and ``log=``; given together they must agree.

    Raises `ScenarioError`: no recipe, one without a recoding, or not that of the log; `FileFormatError`: no log;
    `DataError`: a hierarchy that the log read is another one, or not where it should be.
    """
    if isinstance(recipe, Recodings):
        return recipe
    steps, folder = _given(recipe)
    if log is None:
        if steps is None:
            return None
        if not any(is_recoding(step) or _leaves_out(step) for step in steps):
            methods = ", ".join(dict.fromkeys(step.method for step in steps))
            raise ScenarioError(
                f"recipe= recodes nothing: its steps ({methods}) perturb or suppress, and are what is to be "
                "measured; leave it out, or give the recipe that recoded the release", argument="recipe",
            )  # fmt: skip
        return Recodings(steps, "recipe", folder)
    then, beside = _read_log(log)
    try:
        own = recipe_checks.checked_steps(recipe_steps.read_entries(toml_of(then.recipe)))
    except ValueError:
        raise FileFormatError("the log is damaged; its recipe cannot be read") from None
    if steps is not None and _plain(steps) != _plain(own):
        raise ScenarioError("recipe= is not the recipe of the log; give one of the two", argument="recipe")
    if len(own) != len(then.steps):
        raise FileFormatError("the log is damaged; it has other steps than its recipe")
    place = beside if steps is None else folder
    _check_hierarchies(then, own, place, alone=steps is None)
    return Recodings(own, "log", place, then)


def _given(recipe: Any) -> tuple[tuple[recipe_checks.StepLike, ...] | None, Path | None]:
    if recipe is None:
        return None, None
    if isinstance(recipe, str | Path):
        return recipe_checks.read_steps(recipe), Path(recipe).parent
    if not really_has(recipe, "all_steps", "folder"):
        raise ScenarioError("recipe= is a Recipe, or the path of one", argument="recipe")
    return recipe.all_steps, recipe.folder


def _read_log(log: Any) -> tuple[recipe_log.RecipeLog, Path | None]:
    if isinstance(log, recipe_log.RecipeLog):
        return log, None
    if not isinstance(log, str | Path):
        raise ScenarioError("log= is a RecipeLog, or the path of one", argument="log")
    return recipe_log.RecipeLog.read(log), Path(log).parent


def _plain(steps: Sequence[recipe_checks.StepLike]) -> list[tuple[str, dict[str, Any]]]:
    return [(step.method, dict(step.arguments)) for step in steps]


def _check_hierarchies(
    then: recipe_log.RecipeLog, steps: Sequence[recipe_checks.StepLike], folder: Path | None, *, alone: bool
) -> None:
    hashes = recipe_checks.digests(steps, folder)
    for name in recipe_checks.hierarchies(steps):
        if name not in hashes:
            where = "beside the log; give the recipe, too, which says where it is" if alone else "where the recipe is"
            raise DataError(f"the hierarchy {name} that the log names is not {where}")
        if hashes[name] != then.files.get(name):
            raise DataError(f"the hierarchy {name} is not the one of the log; find the file as it was")


def left_of(
    scenario: Scenario, recodings: Recodings | None, columns: Collection[str], *, judged: bool = False
) -> tuple[Scenario, list[str]]:
    """The scenario without the keys that a step left out, and their names.

    `columns` are those of the release. Raises `ScenarioError`: no intruder is left with a key; where what the release
    tells of the keys is `judged` all the same, the scenario is without an intruder then.
    """
    dropped = () if recodings is None else recodings.left_out
    gone = [name for name in scenario.all_keys if name in dropped and name not in columns]
    if not gone:
        return scenario, []
    left = scenario.of_keys(set(scenario.all_keys).difference(gone))
    if not left.intruders and not judged:
        raise ScenarioError(
            f"the release has none of the keys of any intruder (left out: {', '.join(gone)}), so nobody can be looked "
            "for in it; name an intruder in the scenario who knows a column that goes out, if only one",
            argument="intruders",
        )
    return left, gone
