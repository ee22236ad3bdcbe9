"""What an audit found, value by value and column by column."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sdckit.attacks.published.audit_files import AuditFile
from sdckit.attacks.published.audit_model import System, build, row_words
from sdckit.attacks.published.audit_programme import MOST_UNKNOWN, Attainable, attainable
from sdckit.numerics.array_types import Bools, Floats, Ints

SUPPRESSED, GROUPED = "suppressed", "in groups"


@dataclass(frozen=True)
class AuditedColumn:
    """What a release and the tables beside it give back of one column.

    Attributes
    ----------
    column : str
    kind : str
        "suppressed", or "in groups" where the release shows a range or a group of levels.
    hidden : int
        Values hidden.
    certain : int
        Of these, values of which one level is left.
    right : int or None
        Of these right; None without the original.
    narrowed : int
        Values with several levels left, and fewer than the release alone leaves.
    between_two : int
        Of these, values with two levels left.
    """

    column: str
    kind: str
    hidden: int
    certain: int
    right: int | None
    narrowed: int
    between_two: int

    @property
    def counted(self) -> int:
        """Values given back: those that are right, where that is known."""
        return self.certain if self.right is None else self.right

    @property
    def share(self) -> float:
        """The same as a share of the values hidden."""
        return self.counted / self.hidden if self.hidden else 0.0


@dataclass(frozen=True, eq=False)
class ReleaseAudit:
    """What is left of every hidden value of a release.

    `before`, `left` (P, V): levels that the release alone, and with the tables, leaves to a value of each pattern.
    `level` (P, V): the level of which alone one is left, else -1. `low`, `high` (P, V): ends of the levels left where
    they are numbers. `proven` (P, V): levels that some file is known to have.
    `undecided`: levels that no programme decided, taken for possible; `open`: records with too many
    possibilities to be listed; `programmes`: how many were run.
    """

    file: AuditFile
    before: Ints
    left: Ints
    level: Ints
    low: Floats
    high: Floats
    proven: Ints
    undecided: int
    open: int
    programmes: int

    def of_records(self, figure: Ints) -> Ints:
        """A figure of patterns (P, V) by record (n, V)."""
        return np.asarray(figure[self.file.patterns.of_row])

    @cached_property
    def certain(self) -> Bools:
        """(n, V): hidden values of which one level is left."""
        return np.asarray(self.file.asked & (self.of_records(self.left) == 1))

    @cached_property
    def narrowed(self) -> Bools:
        """(n, V): hidden values of which several levels are left, and fewer than before."""
        left, before = self.of_records(self.left), self.of_records(self.before)
        return np.asarray(self.file.asked & (left > 1) & (left < before))

    @cached_property
    def right(self) -> Bools | None:
        """(n, V): values that are certain and right; None where the truth is not known."""
        if self.file.truth is None:
            return None
        return np.asarray(self.certain & (self.of_records(self.level) == self.file.truth))

    @property
    def given_back(self) -> Bools:
        """(n, V): values given back: those that are right, where that is known."""
        return self.certain if self.right is None else self.right


def truth_of(file: AuditFile, system: System) -> Floats | None:
    """The file as it was, among the completions; None where it is not known, or not among them."""
    if file.truth is None:
        return None
    patterns, completions = file.patterns, system.completions
    rows = np.flatnonzero((patterns.left_open & ~completions.open)[patterns.of_row])
    mine = np.column_stack([patterns.of_row[rows], file.truth[rows]])
    every = np.vstack([np.column_stack([completions.pattern, completions.levels]), mine])
    words = row_words(every, [len(patterns.size), *patterns.shape])
    known, own = words[: len(completions.pattern)], words[len(completions.pattern) :]
    order = np.argsort(known)
    at = np.searchsorted(known, own, sorter=order)
    if len(own) and (at >= len(known)).any():
        return None
    found = order[at] if len(own) else at
    if (known[found] != own).any():
        return None
    return np.bincount(found, minlength=len(known)).astype(np.float64)


def audit_release(file: AuditFile, *, only: Bools | None = None, largest: int = MOST_UNKNOWN) -> ReleaseAudit:
    """Find what is left of every hidden value.

    No programme is run for values that are not in `only` (n, V), nor of more than `largest` unknowns.

    Raises `ContradictionError`: no file has both.
    """
    system = build(file.patterns, file.tables, file.sums)
    asked = None
    if only is not None:
        asked = np.zeros((len(file.patterns.size), len(file.names)), np.bool_)
        np.logical_or.at(asked, file.patterns.of_row, only)
    return summed(file, system, attainable(system, truth_of(file, system), only=asked, largest=largest))


def summed(file: AuditFile, system: System, found: Attainable) -> ReleaseAudit:
    """What is left of every value of every pattern, of the levels that are possible."""
    patterns = file.patterns
    shape = (len(patterns.size), len(patterns.shape))
    widths = [one.sum(axis=1)[code] for one, code in zip(patterns.allowed, patterns.codes.T, strict=True)]
    before = np.column_stack(widths) if widths else np.zeros(shape, np.int64)
    left, level = np.where(patterns.hidden, 0, before), np.full(shape, -1)
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    p, v, a = (part[found.possible] for part in (found.pattern, found.variable, found.level))
    np.add.at(left, (p, v), 1)
    level[p, v] = a
    numbers = [np.array([one.number(label) for label in one.finest]) for one in file.levels]
    value = np.array([numbers[variable][own] for variable, own in zip(v, a, strict=True)])
    np.minimum.at(low, (p, v), value)
    np.maximum.at(high, (p, v), value)
    is_open = system.completions.open
    left[is_open] = before[is_open]
    proven = np.where(patterns.hidden, 0, before)
    np.add.at(proven, (found.pattern[found.proven], found.variable[found.proven]), 1)
    level[left != 1] = -1
    ended = np.isfinite(low) & np.isfinite(high)
    return ReleaseAudit(
        file, before, left, level, np.where(ended, low, np.nan), np.where(ended, high, np.nan), proven,
        found.undecided, int(patterns.size[is_open].sum()), found.solved,
    )  # fmt: skip


def column_figures(audit: ReleaseAudit) -> tuple[AuditedColumn, ...]:
    """Count what was found, by column and by how its values are hidden."""
    file, out = audit.file, []
    left = audit.of_records(audit.left)
    for v, name in enumerate(file.names):
        for kind, of in ((SUPPRESSED, file.missing[:, v]), (GROUPED, file.asked[:, v] & ~file.missing[:, v])):
            if not of.any():
                continue
            narrowed = audit.narrowed[:, v] & of
            out.append(
                AuditedColumn(
                    name, kind, int(of.sum()), int((audit.certain[:, v] & of).sum()),
                    None if audit.right is None else int((audit.right[:, v] & of).sum()), int(narrowed.sum()),
                    int((narrowed & (left[:, v] == 2)).sum()),
                )
            )  # fmt: skip
    return tuple(out)
