"""Joint audit: disclosure by a release together with tables published of the same people."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sdckit.attacks.published import audit_figures, audit_files, audit_model, counted_tables
from sdckit.attacks.recovery import reconstruct, recoverable_values
from sdckit.attacks.recovery.recovery_files import RecoveryFile, recovery_files
from sdckit.attacks.recovery.touched_cells import Logged
from sdckit.cells.pair import Pair
from sdckit.cells.pair_result import PairResult, mean_figures
from sdckit.data import arguments, frames, replace
from sdckit.data.hierarchy import Hierarchy, as_hierarchy
from sdckit.data.missing_values.missing import MissingRule
from sdckit.data.scenarios.roles import read_hierarchies
from sdckit.data.scenarios.scenario import Scenario
from sdckit.display import counted
from sdckit.errors import DataError

NOTHING_HIDDEN = "no value of the tables' variables is hidden in the release"
LEFT_OUT = "not every value of {} that is shown is the original's: what tables tell by it is not looked at"
TOO_MANY = "left out, since there are too many things they could be: {}; more may be certain"
UNDECIDED = "{} possibilities could not be decided and count as possible; more may be certain"


@dataclass(frozen=True, eq=False, repr=False)
class JointAudit(PairResult):
    """Disclosure by a release together with published tables of the same people.

    Attributes
    ----------
    hidden : float
        Values of the tables' variables that the release hides: missing, or shown as a range or group.
    certain : float
        Of these, values with a single feasible level given release and tables.
    right : float
        Of these, right ones; NaN without the original.
    narrowed : float
        Values with several feasible levels, fewer than from the release alone; ``between_two`` those with two.
    joint_recoverable : float
        The largest share of a column's hidden values that is reconstructed (right ones, where that is known).
    k_before, joint_k : float
        Smallest equivalence class of the release, and with the certain suppressed values inserted. NaN without keys.
    uniques_before, joint_uniques : float
        Sample uniques on the keys, in the same two files.
    columns : tuple of tuple of AuditedColumn
        For each release, column by column.
    tables : tuple of str
        Names of the tables.
    below_k : tuple of dict of int to int
        For each release with the reconstructed values, records in classes smaller than each k. ``shown_k`` is the k
        that documents report.
    damage : tuple of tuple of TableDamage
        For each release, table by table, with ``remedies=True``: hidden values reconstructed with this table
        ``alone``, and with all others (``without``).
    remedies : tuple of tuple of Remedy
        For each release, with ``remedies=True`` and if values are reconstructed: tables to ``leave out``, tables to
        ``round`` and to which ``base``, values of the release to ``take out``; the ``cells`` and ``values`` no longer
        shown, and how many reconstructed values are ``left`` in a repeated audit.
    suppressed_cells : frame
        Every suppressed cell of a table: ``release``, ``table``, ``cell``, lower and upper bound of its count by the
        table itself (``published_low``, ``published_high``; empty where unbounded), and by release and tables together
        (``low``, ``high``). Confidential.
    records : frame
        Every hidden value: ``release``, ``row`` (from 1), ``column``, ``kind``, ``state`` ("certain", "narrowed" or
        "open"), ``before`` and ``left``, the number of feasible levels without and with the tables, and ``low`` and
        ``high``, the bounds of the feasible levels where they are numbers. Confidential.
    """

    measure: ClassVar[str] = "joint_audit"
    figures: ClassVar[tuple[str, ...]] = (
        "hidden", "certain", "right", "narrowed", "between_two", "joint_recoverable", "k_before", "joint_k",
        "uniques_before", "joint_uniques",
    )  # fmt: skip
    dropped: ClassVar[tuple[str, ...]] = ("pair", "files", "audits", "repairs", "cells")
    columns: tuple[tuple[audit_figures.AuditedColumn, ...], ...] = field(kw_only=True)
    tables: tuple[str, ...] = field(kw_only=True)
    keys: tuple[str, ...] = field(kw_only=True)
    shown_k: int = field(kw_only=True)
    below_k: tuple[dict[int, int], ...] = field(kw_only=True)
    files: tuple[RecoveryFile, ...] = field(kw_only=True, repr=False)
    audits: tuple[audit_figures.ReleaseAudit, ...] = field(kw_only=True, repr=False)
    repairs: tuple[audit_figures.Repairs, ...] = field(kw_only=True, repr=False)
    cells: tuple[tuple[audit_figures.AuditedCells, ...], ...] = field(kw_only=True, repr=False)
    damage: tuple[tuple[audit_figures.TableDamage, ...], ...] = field(kw_only=True)
    remedies: tuple[tuple[audit_figures.Remedy, ...], ...] = field(kw_only=True)
    hidden: float = math.nan
    certain: float = math.nan
    right: float = math.nan
    narrowed: float = math.nan
    between_two: float = math.nan
    joint_recoverable: float = math.nan
    k_before: float = math.nan
    joint_k: float = math.nan
    uniques_before: float = math.nan
    joint_uniques: float = math.nan

    @property
    def n(self) -> int:
        """Records of the first release."""
        return self.pair.sizes[0]

    @property
    def unseen(self) -> tuple[str, ...]:
        """Columns of the tables with suppressed values that were left out: shown ones are not the original's."""
        return tuple(
            dict.fromkeys(
                name
                for file, audit in zip(self.files, self.audits, strict=True)
                for name in audit.file.left_out
                if file.truth is not None and ((file.columns[name].codes == 0) & (file.truth[name].codes > 0)).any()
            )
        )

    @cached_property
    def records(self) -> Any:
        """A row per hidden value, in the caller's frame type."""
        listed: dict[str, list[Any]] = {
            name: [] for name in ("release", "row", "column", "kind", "state", "before", "left", "low", "high")
        }
        for j, audit in enumerate(self.audits, 1):
            rows, columns = np.nonzero(audit.file.asked)
            pattern = audit.file.patterns.of_row[rows]
            kind = np.where(audit.file.missing[rows, columns], "suppressed", "in groups")
            state = np.where(audit.narrowed[rows, columns], "narrowed", "open")
            state = np.where(audit.certain[rows, columns], "certain", state)
            listed["release"] += [j] * len(rows)
            listed["row"] += (rows + 1).tolist()
            listed["column"] += [audit.file.names[v] for v in columns]
            listed["kind"] += kind.tolist()
            listed["state"] += state.tolist()
            for name in ("before", "left", "low", "high"):
                listed[name] += getattr(audit, name)[pattern, columns].tolist()
        return self.pair.table(listed)

    @cached_property
    def suppressed_cells(self) -> Any:
        """A row per suppressed cell of a table, in the caller's frame type."""
        rows = [
            (j, self.tables[cells.table], words, *_ends(published), *_ends(left))
            for j, release in enumerate(self.cells, 1)
            for cells in release
            for words, published, left in zip(cells.words, cells.published, cells.left, strict=True)
        ]
        names = ("release", "table", "cell", "published_low", "published_high", "low", "high")
        return self.pair.table({name: [row[at] for row in rows] for at, name in enumerate(names)})

    def undone(self, release: int = 1) -> Any:
        """The release with every suppressed value that is certain put back, in the caller's frame type.

        Raises
        ------
        DataError
            There is no such release.
        """
        place = arguments.release(release, self.m)
        return _put_back(self.files[place].frame, self.audits[place]).to_native()

    def taken_out(self, release: int = 1) -> Any:
        """The release without the further values that the remedy "take out" names, in the caller's frame type.

        Raises
        ------
        DataError
            There is no such release, no such remedy was looked for (``remedies=True`` beside the original), or none is
            needed.
        """
        place = arguments.release(release, self.m)
        if not self.repairs or not any(remedy.kind == audit_figures.TAKE_OUT for remedy in self.remedies[place]):
            raise DataError(
                "no values to take out were looked for, or none are needed; give the original and remedies=True"
            )
        return _without(self.files[place].frame, self.audits[place], self.repairs[place].further)


def _ends(bounds: Any) -> tuple[float, float]:
    """Lower and upper bound of a count; NaN for an unbounded one."""
    return float(bounds[0]), float(bounds[1]) if bounds[1] < counted_tables.ANY else math.nan


def joint_audit(
    released: Any,
    original: Any = None,
    *,
    tables: Any = None,
    keys: Sequence[str] | None = None,
    missing: MissingRule | None = None,
    alpha: float | None = None,
    k: int | Sequence[int] = (2, 3, 5),
    hierarchies: Mapping[str, Any] | None = None,
    log: Logged | None = None,
    aligned: bool | None = None,
    remedies: bool = False,
    scenario: Scenario | None = None,
    id: str | None = None,
    step: Callable[[str], None] | None = None,
) -> JointAudit:
    """Find what a release and tables published of the same people give back of what the release hides.

    Parameters
    ----------
    released : data frame, sequence of them, or Pair
        What is to go out: one file or m of them; a pair holds the original, too.
    original : data frame, optional
        What the tables are counted in, and what says which values are given back rightly. Nothing is put back with its
        help.
    tables : sequence, optional
        What is published beside it: lists of variables (counted in the original), frames or files of counts, or
        `PublishedTable`, which may be rounded, have suppressed cells or hold sums of a numeric variable. From the
        scenario where not given.
    keys : sequence of str, optional
        Variables that an intruder could know: who is recognised in the file put back is counted for them.
    missing, alpha
        As in `key_frequencies`.
    k : int or sequence of int
        Sizes of classes below which records of the file put back are counted.
    hierarchies : dict, optional
        By column a hierarchy (as `recode` takes one) that says which levels belong to a group. Ranges of numbers
        ("30-39") are read by themselves, and groupings that the original shows.
    log : RecipeLog, optional
        Says which record of the original each row was made from, where rows were moved.
    aligned : bool, optional
        Whether row i of a release was made from row i of the original, where no id says it; unless given as in
        `recoverable_values`. Where nothing says so tables are counted in the original, and nothing else is taken from
        it.
    remedies : bool
        Whether to audit each table alone, and to look for what to leave out, to round or to take out instead.
    scenario : Scenario, optional
        Gives what is not given here.
    id : str, optional
        Column that says which rows belong together.
    step : callable, optional
        Is told in words what is being done.

    Returns
    -------
    JointAudit
        ``hidden``, ``certain``, ``right``, ``joint_recoverable``, ``joint_k`` and more; ``columns``, ``records``,
        ``undone()``.

    Raises
    ------
    ColumnError, ScenarioError
        A variable of a table that the release has not, a role without its column.
    DataError
        No tables; tables of other people, in other codes, with totals or sums that do not add, or that contradict the
        release or each other; an argument out of range.
    FileFormatError
        A file of counts cannot be read.

    Notes
    -----
    Records with equal released values form a pattern. The unknowns are the numbers of records of a pattern with each
    completion; those of a pattern sum to its records, and those that fall into a cell of a table to its count less the
    records that show the cell. Completions in full cells are dropped, and the bounds are tightened by constraint
    propagation, margins of the tables included. What is still open is decided by linear and, where these end in
    fractions, integer programmes, one for each connected component of the system: a level is feasible if some integer
    solution has it. A value is certain if one level is feasible. What a programme does not decide counts as feasible,
    so nothing is called certain that is not.

    A sum constrains the records that may fall into its cell, with the shown values of the summed variable as
    coefficients: records with equal hidden patterns but different values are then distinguished. Sums are integers in
    the largest unit in which all values are integers; where a solver is not exact enough, small components are searched
    exactly. A hidden value of the summed variable may be any number: no cell into which its record may fall is used.
    Sums of a variable are not used at all, and `notes` says so, if the release has no numbers in it, or if the original
    shows that some were changed.

    A table counts the records of the release: neither weighted nor the population of which they are a sample. Shown
    values are taken to be true; with the original, variables of which some are not are left out of the tables.

    References
    ----------
    Dobra, A. and Fienberg, S. E. (2000). Bounds for cell entries in contingency tables given marginal totals and
    decomposable graphs. PNAS 97(22). Fischetti, M. and Salazar, J. J. (2001). Solving the cell suppression problem on
    tabular data with linear constraints. Management Science 47(7).

    Examples
    --------
    >>> import polars as pl
    >>> whole = pl.DataFrame({"region": ["n", "n", "s", "s", "s"], "job": ["cook", "smith", "cook", "cook", "cook"]})
    >>> safe = whole.with_columns(job=pl.Series([None, None, "cook", "cook", "cook"]))
    >>> joint_audit(safe, whole, tables=[["region", "job"]], aligned=True).certain
    0.0
    >>> safe = whole.with_columns(job=pl.Series(["cook", None, "cook", "cook", "cook"]))
    >>> found = joint_audit(safe, whole, tables=[["job"]], keys=["region", "job"])
    >>> found.hidden, found.certain, found.right, found.k_before, found.joint_k
    (1.0, 1.0, 1.0, 2.0, 1.0)
    """
    tell = step or (lambda _: None)
    if aligned is not None:
        arguments.flag(aligned, "aligned")
    arguments.flag(remedies, "remedies")
    sizes = recoverable_values.class_sizes(k)
    scenario = arguments.scenario_or_none(scenario)
    given = _tables(tables, scenario)
    roles = recoverable_values.optional_roles(keys=keys, scenario=scenario, missing=missing, alpha=alpha, id=id)
    files, pair = recovery_files(
        released, original, roles=roles, columns=None, log=log, id=id,
        aligned=recoverable_values.as_declared(aligned, scenario), named={}, needed=_variables(given),
    )  # fmt: skip
    has_original = original is not None or released is pair or isinstance(released, Pair)
    counted = tuple(counted_tables.read_table(table, pair.original if has_original else None) for table in given)
    trees = _hierarchies(hierarchies, scenario, counted)
    notes: dict[str, str] = {}
    per_release, audits, by_column, below, cells = [], [], [], [], []
    for file in files:
        tell("holding the tables against the release")
        audit = _audit(file, counted, trees)
        columns = audit_figures.column_figures(audit)
        figures = _figures(columns, audit)
        figures |= dict.fromkeys(("k_before", "joint_k", "uniques_before", "joint_uniques"), math.nan)
        if roles.keys:
            tell("measuring the risk with the values put back")
            before = reconstruct.recognised(file.frame, file.roles, k=sizes, risk=None)
            after = reconstruct.recognised(_put_back(file.frame, audit), file.roles, k=sizes, risk=None)
            figures |= {
                "k_before": float(before.k), "joint_k": float(after.k), "uniques_before": float(before.uniques),
                "joint_uniques": float(after.uniques),
            }  # fmt: skip
            below.append(after.below_k)
        _audit_notes(notes, audit)
        audits.append(audit)
        cells.append(audit_figures.audit_cells(audit.file))
        by_column.append(columns)
        per_release.append(figures)
    repairs = tuple(audit_figures.find_repairs(audit, counted, tell) for audit in audits) if remedies else ()
    means = mean_figures(per_release, notes)
    _notes(notes, means, recoverable_values.NO_TRUTH if original is None else recoverable_values.NOT_COMPARED)
    return JointAudit(
        pair, tuple(per_release), "", notes, columns=tuple(by_column),
        tables=tuple(table.called for table in counted), keys=roles.keys,
        shown_k=recoverable_values.shown_size(sizes, scenario), below_k=tuple(below), files=files,
        audits=tuple(audits), repairs=repairs, cells=tuple(cells),
        damage=tuple(repair.damage for repair in repairs), remedies=tuple(repair.remedies for repair in repairs),
        **means,
    )  # fmt: skip


def _tables(tables: Any, scenario: Scenario | None) -> tuple[counted_tables.PublishedTable, ...]:
    if tables is None and scenario is not None and scenario.tables:
        return counted_tables.declared_tables(scenario.tables, scenario.folder)
    if tables is None:
        raise DataError(
            'say what is published beside the file: tables=[["region", "sex"], ...], or [[tables]] in the scenario',
            argument="tables",
        )
    return counted_tables.as_tables(tables)


def _variables(tables: Sequence[counted_tables.PublishedTable]) -> set[str]:
    """The columns of the release that tables are held against; none where a table says only in its file which."""
    if any(table.variables is None for table in tables):
        return set()
    return {name for table in tables for name in (*(table.variables or ()), table.sum) if name is not None}


def _hierarchies(
    given: Mapping[str, Any] | None, scenario: Scenario | None, tables: Sequence[counted_tables.CountedTable]
) -> dict[str, Hierarchy]:
    names = list(dict.fromkeys(column.name for table in tables for column in table.columns))
    hierarchies = {} if scenario is None else read_hierarchies(scenario, names)
    if given is not None:
        own = arguments.mapping(given, "hierarchies", "has a hierarchy for each column")
        hierarchies |= {name: as_hierarchy(hierarchy) for name, hierarchy in own.items()}
    return hierarchies


def _audit(
    file: RecoveryFile, tables: Sequence[counted_tables.CountedTable], trees: Mapping[str, Hierarchy]
) -> audit_figures.ReleaseAudit:
    opened = audit_files.open_audit(file, tables, trees)
    try:
        return audit_figures.audit_release(opened)
    except audit_model.ContradictionError as error:
        raise audit_files.contradicted(error, opened, tables) from None


def _put_back(frame: Any, audit: audit_figures.ReleaseAudit) -> Any:
    """The release with reconstructed values inserted where they were suppressed."""
    file, replaced = audit.file, {}
    for v, name in enumerate(file.names):
        hit = audit.given_back[:, v] & file.missing[:, v]
        if not hit.any():
            continue
        labels, codes = counted_tables.without_missing(file.labels[v], file.patterns.codes[file.patterns.of_row, v])
        shown = {label: code for code, label in enumerate(labels)}
        level = np.asarray(audit.of_records(audit.level))[hit, v]
        for own in np.unique(level):
            label = file.levels[v].finest[own]
            shown.setdefault(label, len(shown))
        codes[hit] = np.array([shown[file.levels[v].finest[own]] for own in level])
        replaced[name] = ([*shown], codes)
    return frames.open_frame(replace.with_levels(frame, replaced)) if replaced else frame


def _without(frame: Any, audit: audit_figures.ReleaseAudit, further: Any) -> Any:
    """The release with some further values (n, V) suppressed."""
    file, replaced = audit.file, {}
    for v, name in enumerate(file.names):
        if further[:, v].any():
            labels, codes = counted_tables.without_missing(file.labels[v], file.patterns.codes[file.patterns.of_row, v])
            replaced[name] = (labels, np.where(further[:, v], -1, codes))
    return frames.open_frame(replace.with_levels(frame, replaced)).to_native() if replaced else frame.to_native()


def _figures(columns: Sequence[audit_figures.AuditedColumn], audit: audit_figures.ReleaseAudit) -> dict[str, float]:
    known, nothing = audit.right is not None, math.nan if audit.file.left_out else 0.0
    return {
        "hidden": float(sum(column.hidden for column in columns)),
        "certain": float(sum(column.certain for column in columns)),
        "right": float(sum(column.right or 0 for column in columns)) if known else math.nan,
        "narrowed": float(sum(column.narrowed for column in columns)),
        "between_two": float(sum(column.between_two for column in columns)),
        "joint_recoverable": max((column.share for column in columns), default=nothing),
    }


def _audit_notes(notes: dict[str, str], audit: audit_figures.ReleaseAudit) -> None:
    notes.update(audit.file.notes)
    if audit.file.left_out:
        notes["left_out"] = LEFT_OUT.format(", ".join(audit.file.left_out))
    if audit.open:
        notes["open"] = TOO_MANY.format(counted(audit.open, "record"))
    if audit.undecided:
        notes["undecided"] = UNDECIDED.format(audit.undecided)


def _notes(notes: dict[str, str], means: Mapping[str, float], no_truth: str) -> None:
    if not means["hidden"] and "left_out" not in notes:
        notes["hidden"] = NOTHING_HIDDEN
    if math.isnan(means["right"]):
        notes["right"] = no_truth
    for name in ("k_before", "joint_k", "uniques_before", "joint_uniques"):
        if math.isnan(means[name]):
            notes[name] = recoverable_values.NO_KEYS
