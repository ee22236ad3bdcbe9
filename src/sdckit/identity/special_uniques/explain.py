"""Why one record is at risk: what singles it out, and the cheapest single change that ends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sdckit.cells import as_cells, frequencies
from sdckit.cells.table import Cells
from sdckit.data import arguments
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import EXACT, exact_shown, plain_html
from sdckit.errors import DataError, sure
from sdckit.identity.contributions import coarsening
from sdckit.result import Result

# The smallest sets of keys on which one record differs from every other.


MOST_SETS = 200_000  # key sets tried of one size


def minimal_sets(disagree: Sequence[int], n_keys: int, max_size: int) -> tuple[list[tuple[int, ...]], int]:
    """Smallest sets of keys on which a record differs from every other.

    `disagree` has, for each other record, the keys on which it differs as bits. Gives the sets, by size, none of which
    holds another; and the size up to which all were found.

    Examples
    --------
    >>> minimal_sets([0b001, 0b110], 3, 3)
    ([(0, 1), (0, 2)], 3)
    """
    needed = _smallest(np.array(sorted(set(disagree)), np.uint64))
    if len(needed) and needed[0] == 0:
        return [], max_size
    if not len(needed):
        return [()], max_size
    minimal: list[tuple[int, ...]] = []
    held = np.empty(0, np.uint64)
    open_sets: list[tuple[int, ...]] = [()]
    for size in range(1, max_size + 1):
        longer = [(*chosen, j) for chosen in open_sets for j in range(chosen[-1] + 1 if chosen else 0, n_keys)]
        if len(longer) > MOST_SETS:
            return minimal, size - 1
        bits = np.array([sum(1 << j for j in subset) for subset in longer], np.uint64)
        known, meets = np.zeros(len(bits), np.bool_), np.ones(len(bits), np.bool_)
        for small in held:
            known |= bits & small == small
        for other in needed:
            meets &= bits & other != 0
        minimal += [longer[i] for i in np.flatnonzero(meets & ~known)]
        held = np.append(held, bits[meets & ~known])
        open_sets = [longer[i] for i in np.flatnonzero(~meets & ~known)]
    return minimal, max_size


def _smallest(masks: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The masks that contain no other mask: a key set that meets these meets all."""
    left = masks[np.argsort(np.bitwise_count(masks), kind="stable")]
    kept = []
    while len(left):
        kept.append(left[0])
        left = left[1:][left[1:] & left[0] != left[0]]
    return np.array(kept, np.uint64)


MOST_KEYS = 64
REFUSED = "an explanation speaks of one record: it stays in the room"


# --- kernel -----------------------------------------------------------------------------------------


def disagreements(cells: Cells, mine: int) -> NDArray[np.bool_]:
    """For each key (rows) and cell (columns), whether the cell differs from cell `mine` under the rule."""
    out = np.empty((len(cells.keys), cells.n_cells), np.bool_)
    for j, rule in enumerate(cells.rules):
        codes, missing = cells.table.codes[j], cells.levels[j].span
        out[j] = codes != codes[mine]
        if rule == "wildcard":
            out[j] &= (codes != missing) & (codes[mine] != missing)
    blank = frequencies.blank_cells(
        [level.span for level in cells.levels], cells.table.words, cells.table.layout, cells.table.codes
    )
    out[:, blank[blank != mine]] = True  # a cell without any key value matches no other cell
    return out


# --- result -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """A single change after which the record is no longer alone.

    Attributes
    ----------
    action : {"drop", "coarsen"}
    variable : str
    rule : str
        How levels are merged, in words and without a value; "" when the key is dropped.
    levels_before, levels_after : int
    entropy_lost : float
        Information that the file loses, in bits per record.
    sharing : int
        Records that share the key afterwards, this one included.
    """

    action: Literal["drop", "coarsen"]
    variable: str
    rule: str
    levels_before: int
    levels_after: int
    entropy_lost: float
    sharing: int


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """What singles a record out; internal: documents and charts refuse it unless told that they are internal.

    Attributes
    ----------
    n : int
        Records of the file.
    sharing : int
        Records that share all keys with this one, itself included: 1 when it is alone.
    key_sets : tuple of tuple of str
        The minimal sets of keys on which it is alone, the smallest first.
    searched : int
        Size up to which all minimal sets are listed.
    changes : tuple of Change
        Single changes that end it, the one that loses least information first.
    cheapest : Change or None
    values : dict of str to str
        The record's own values, on request only.
    """

    measure: ClassVar[str] = "explain"
    figures: ClassVar[tuple[str, ...]] = ("n", "sharing", "n_key_sets", "searched", "set_sizes", "change_figures")
    cells: Cells
    cell: int
    sharing: int
    key_sets: tuple[tuple[str, ...], ...]
    searched: int
    changes: tuple[Change, ...]
    notes: dict[str, str] = field(default_factory=dict)

    @cached_property
    def n(self) -> int:
        """Records of the file."""
        return self.cells.n

    @property
    def n_key_sets(self) -> int:
        """Number of minimal key sets found."""
        return len(self.key_sets)

    @property
    def set_sizes(self) -> dict[int, int]:
        """Minimal key sets by their size."""
        sizes = sorted({len(key_set_) for key_set_ in self.key_sets})
        return {size: sum(len(key_set_) == size for key_set_ in self.key_sets) for size in sizes}

    @property
    def change_figures(self) -> dict[str, dict[str, float]]:
        """The changes by action and key."""
        return {
            f"{change.action} {change.variable}": {"entropy_lost": change.entropy_lost, "sharing": change.sharing}
            for change in self.changes
        }

    @property
    def cheapest(self) -> Change | None:
        """The single change that ends it and loses least information."""
        return self.changes[0] if self.changes else None

    @cached_property
    def missing_rule(self) -> str:
        """What a missing key value was taken for, in words."""
        return self.cells.missing_rule

    @property
    def values(self) -> dict[str, str]:
        """The record's own key values, printed: confidential."""
        place = slice(self.cell, self.cell + 1)
        pairs = zip(self.cells.keys, self.cells.levels, self.cells.table.codes, strict=True)
        return {key: level.labels(codes[place])[0] for key, level, codes in pairs}

    @property
    def records(self) -> Any:
        """Refuse: the measure speaks of one record.

        Raises
        ------
        DataError
            Always; `individual_risk` has figures per record.
        """
        raise DataError("an explanation is of one record; individual_risk gives figures for all")

    def __str__(self) -> str:
        if self.sharing > 1:
            return f"The record is not alone: {self.sharing} records share its keys."
        sets = "; ".join(" + ".join(key_set_) for key_set_ in self.key_sets[:5])
        more = f" and {len(self.key_sets) - 5} more" if len(self.key_sets) > 5 else ""
        by = f" by: {sets}{more}" if sets else ""
        alone = "The file has no other record." if self.n == 1 else f"Alone among {self.n} records{by}."
        if (best := self.cheapest) is None:
            return f"{alone} No single change of one key ends it."
        drop = best.action == "drop"
        how = f"leave out {best.variable}" if drop else f"coarsen {best.variable}, {best.rule}"
        return (
            f"{alone} Cheapest single change: {how} ({best.levels_before} to {best.levels_after} levels, "
            f"{best.entropy_lost:.2f} bits lost); {best.sharing} records then share its keys."
        )

    def __repr__(self) -> str:
        return f"Explanation({self})"

    def _repr_html_(self) -> str:
        if exact_shown.get():
            return plain_html(f"{EXACT}\n{self}")
        return f"<p>{REFUSED}; print() and .values show it in the session.</p>"

    def plot(self, *, internal: bool = False) -> Any:
        """Bars of the information that each change loses; internal only.

        Raises
        ------
        DataError
            Unless internal.
        """
        if not (internal or exact_shown.get()):
            raise DataError(f"{REFUSED}; plot(internal=True) draws it for you alone")
        import altair as alt

        changes = ((f"{change.action} {change.variable}", change.entropy_lost) for change in self.changes)
        rows = [{"change": words, "bits": bits} for words, bits in changes]
        chart: alt.Chart = alt.Chart({"values": rows}).mark_bar().encode(
            x=alt.X("bits:Q", title="information lost, bits per record"), y=alt.Y("change:N", sort=None, title=None),
        )  # fmt: skip
        return chart.properties(title="Internal: contains confidential information")


# --- measure ----------------------------------------------------------------------------------------


def explain(
    data: Any,
    *,
    keys: Sequence[str] | None = None,
    row: object = 1,
    id: str | None = None,
    missing: MissingRule | None = None,
    max_size: int | None = None,
    numeric: Sequence[str] | None = None,
    scenario: Scenario | None = None,
) -> Explanation:
    """Show which keys single a record out, and the cheapest single change that ends it.

    Parameters
    ----------
    data : data frame or Cells
    keys : sequence of str
        Variables that an intruder could know.
    row : int or value
        The record: its row number from 1, or its value of the column `id`.
    id : str, optional
        Column that tells records apart; needed for a plan, whose rows have no numbers.
    missing : {"wildcard", "category", "error"} or dict, optional
        As in `key_frequencies`. Any match counts here, whatever alpha is.
    max_size : int, optional
        Largest key set to look for; default all sizes, as far as 200,000 sets of one size.
    numeric : sequence of str, optional
        Keys that are measured numbers.
    scenario : Scenario, optional
        Gives what is not given here.

    Returns
    -------
    Explanation
        ``sharing``, ``key_sets``, ``changes``, ``cheapest``, ``values``.

    Raises
    ------
    ColumnError, ScenarioError
        As `key_frequencies`.
    DataError
        As `key_frequencies`; no such row, or not one single record with the id; a `max_size` out of range;
        more than 64 keys; persons, who cannot be counted from cells.

    Notes
    -----
    A change is to leave one key out or to make it coarser: of numbers, dates and ordered categories (told apart
    as in `key_contributions`), the narrowest bands of 2, 4, 8 ... neighbouring levels that end it; of any other
    key, the record's level and the rarest level that would give it company as one. Information lost is the key's
    entropy that goes, in bits per record.

    References
    ----------
    Elliot, M., Manning, A. and Ford, R. (2002). A computational algorithm for handling the special uniques
    problem. International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 493-509.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "f", "m", "f"], "age": [30, 31, 30, 40]})
    >>> result = explain(survey, keys=["sex", "age"], row=3)
    >>> result.key_sets, result.cheapest.action, result.cheapest.variable
    ((('sex',),), 'drop', 'sex')
    """
    if max_size is not None:
        arguments.count(max_size, "max_size", "counts the keys of a set")
    arguments.column_or_none(id, "id")
    scenario = arguments.scenario_or_none(scenario)
    cells = as_cells.tabulate_given(data, keys=keys, scenario=scenario, missing=missing, weighted=False)
    if cells.roles.person is not None:
        words = "distinct persons cannot be counted from cells"
        raise DataError(f"{words}; leave person= out to explain a record")
    n_keys = len(cells.keys)
    if n_keys > MOST_KEYS:
        raise DataError(f"a record is explained by {MOST_KEYS} keys at most, not {n_keys}; take fewer keys")
    if cells.source is None and id is None:
        raise DataError("a plan has no row numbers; give id= and the record's value of it in row=")
    here = cells.in_memory() if id is None else cells.in_memory(id)
    mine = int(here.table.of_row[_row(here, row, id)])
    differs = disagreements(here, mine)
    same = ~differs.any(axis=0)
    sharing = int(here.table.size[same].sum())
    if sharing > 1:
        return Explanation(here, mine, sharing, (), n_keys, ())
    others = np.arange(here.n_cells) != mine
    patterns = np.unique(np.packbits(differs[:, others], axis=0, bitorder="little"), axis=1)
    masks = [int.from_bytes(column.tobytes(), "little") for column in patterns.T]
    asked = n_keys if max_size is None else min(max_size, n_keys)
    sets, searched = minimal_sets(masks, n_keys, asked)
    notes = {}
    if searched < asked:
        notes["searched"] = f"sets of more than {searched} keys are too many to try"
    if here.n == 1:
        notes["key_sets"] = "the file has one record: it is alone without any key"
    named = tuple(tuple(here.keys[j] for j in set_) for set_ in sets)
    declared = coarsening.declared_kinds(here.keys, scenario, numeric=numeric)
    return Explanation(here, mine, 1, named, searched, _changes(here, mine, differs, declared), notes)


def _row(cells: Cells, row: object, id: str | None) -> int:
    if id is not None:
        return as_cells.row_of(sure(cells.source), id, row)
    says = "counts records (to name one by a column give id= too)"
    return arguments.count(row, "row", says, at_most=cells.n) - 1


def _changes(cells: Cells, mine: int, differs: NDArray[np.bool_], declared: coarsening.Declared) -> tuple[Change, ...]:
    """For each key the change that alone ends it: cells that differ on that key only are its new company."""
    alone = differs.sum(axis=0) == 1
    changes: list[Change] = []
    for j, key in enumerate(cells.keys):
        near = np.flatnonzero(alone & differs[j])
        if len(near) == 0:
            continue
        levels, size = coarsening.levels_of(cells, key, declared), cells.table.size[near]
        changes.append(Change("drop", key, "", len(levels.codes), 1, levels.entropy, 1 + int(size.sum())))
        codes = cells.table.codes[j]
        grouping = _narrowest(levels, int(codes[mine]), codes[near])
        if grouping is not None:
            group = dict(zip(levels.codes.tolist(), grouping.group.tolist(), strict=True))
            own = group[int(codes[mine])]
            joins = np.array([group.get(code) == own for code in codes[near].tolist()])
            lost, company = grouping.entropy_lost(levels), int(size[joins].sum())
            widths = len(levels.codes), grouping.after
            changes.append(Change("coarsen", key, grouping.rule, *widths, lost, 1 + company))
    return tuple(sorted(changes, key=lambda change: (change.entropy_lost, change.action, change.variable)))


def _narrowest(levels: coarsening.Levels, mine: int, near: NDArray[np.int64]) -> coarsening.Grouping | None:
    """The finest grouping that merges the record's level with that of some such cell (`near`)."""
    place = {code: i for i, code in enumerate(levels.codes.tolist())}
    if mine not in place:
        return None  # a missing value is merged with nothing
    theirs = sorted({place[code] for code in near.tolist() if code in place})
    if not theirs:
        return None
    if not levels.ordered:
        return coarsening.joined(levels, place[mine], theirs[0])
    width = 2
    while width < len(levels.codes):
        if any(their // width == place[mine] // width for their in theirs):
            return coarsening.bands(levels, width)
        width *= 2
    return None
