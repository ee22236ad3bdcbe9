"""What a document is made of before it is protected: typed figures, the relations between them, one tree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sdckit.report.gate.relations import Sizes


Kind = Literal["count", "value", "sum"]
# Between the names of two counts: what the one has more than the other.
DIFFERENCE = " - "
Watched = Literal["everywhere", "table", "nowhere"]


@dataclass(frozen=True)
class Quantity:
    """What a number says, and of which file: wherever it stands in a document, it is printed alike.

    Parameters
    ----------
    name
        In words, the same wherever it stands.
    base
        The file: ``"original"``, ``"recoded original"``, ``"release 1"``, ``"after step 2"``; its document fills it in.
    rule
        What a missing key value was taken for: ``"wildcard"``, ``"category"``, or "" where none is missing.
    intruder
        Name and keys of the intruder.
    """

    name: str
    base: str = ""
    rule: str = ""
    intruder: str = ""


@dataclass(frozen=True)
class Variable:
    """A true number behind the document.

    Parameters
    ----------
    true
        The exact number; None for one that is never printed and only links others.
    group
        The table it is printed in: figures of one table are coarsened together.
    kind
        ``"count"`` a whole number; ``"value"`` an estimate, printed to two significant digits; ``"sum"`` an
        expected number in which one cell may count one, printed like a count.
    watched
        Where nobody may narrow it down: ``"everywhere"``; ``"table"``, among the figures printed beside it
        (cells of five or more records are no small groups: how many there are follows from the number of
        their records); or ``"nowhere"``.
    of
        The quantity, where it stands in a document more than once.
    stated
        What the document tells of the number whatever is printed of it: that it is none or at least one where
        a limit is said to hold or not, that it is five or more where a level is shown.
    late
        Whether it is there because this document asks for it: such figures are printed after all others, so that
        those are printed alike in another document that asks for something else.
    guard
        Counts of records that could be told by it, where no relation says how: it is printed where each of them is
        none or large enough, in as many digits as leave five of them in a step.
    """

    true: float | None
    group: str = ""
    kind: Kind = "count"
    watched: Watched = "everywhere"
    of: Quantity | None = None
    stated: tuple[float, float] = (0.0, math.inf)
    late: bool = False
    guard: tuple[str, ...] = ()


@dataclass(frozen=True)
class Relation:
    """What anybody knows about the true numbers: lower <= sum of coefficient x variable <= upper."""

    terms: tuple[tuple[str, float], ...]
    lower: float = 0.0
    upper: float = 0.0


@dataclass(frozen=True)
class Count:
    """A count of records, cells or households, by the name of its variable."""

    name: str


@dataclass(frozen=True)
class Value:
    """An estimated number (an expected count), by the name of its variable."""

    name: str


@dataclass(frozen=True)
class Share:
    """One count as a part of another; computed from the printed counts, so that it says nothing more."""

    part: str
    whole: str


@dataclass(frozen=True)
class Ratio:
    """An expected number divided by a count, computed from what is printed of the two."""

    value: str
    count: str


@dataclass(frozen=True)
class Difference:
    """What a count loses: whole minus part, computed from the printed counts."""

    whole: str
    part: str


@dataclass(frozen=True)
class Total:
    """The sum of counts of one family (names that start alike), computed from the printed counts.

    A total rounded by itself would be a second look at its parts.
    """

    family: str


@dataclass(frozen=True)
class Cumulative:
    """The share some counts have in all of them, computed from the printed counts."""

    parts: tuple[str, ...]
    wholes: tuple[str, ...]


@dataclass(frozen=True)
class Chance:
    """The chance that a match is a hit: hits x share in hits x share + misses x (1 - share), as printed.

    `hits` and `misses` are variables of two counts, `share` the share of the population in the file.
    """

    hits: str
    misses: str
    share: float


@dataclass(frozen=True)
class Guarded:
    """An estimate that rests on `base` records, whose number it could tell: printed where that is large enough.

    With ``few=True`` it is carried by them alone, as a loss is by the records that were changed: then it has as many
    digits as leave five of them in a step. `nothing` is what it is without any.
    """

    name: str
    base: str
    few: bool = False
    nothing: float = 0.0


@dataclass(frozen=True)
class Part:
    """An exact part of one, printed in whole per cent, and only where the count `base` is large enough.

    Of a number of values, `counted`, in steps of ten of the base at least: finer ones would count them.
    """

    true: float
    base: str
    counted: bool = False


@dataclass(frozen=True)
class Told:
    """Words that stand only where one of the counts `bases` is printed as a number, others in their place else.

    Words that stand from five records on by the exact count would tell a count that is printed more coarsely.
    ``otherwise=None`` leaves them out of a list: how many are missing is not told. With ``guarded=True`` each of the
    counts has to be none, or large enough for figures that could tell it.
    """

    content: Tree
    bases: tuple[str, ...]
    otherwise: Tree = ""
    guarded: bool = False


@dataclass(frozen=True)
class Holds:
    """Whether a limit holds; None when it could not be tested.

    Where it holds because each of the counts `none` is none, so much is told of them, whatever is printed. Where
    it is a `limit` on an expected number `value` as a part of the count `base`, it stays open unless the printed
    figures decide it: else it would say more of the number than its print.
    """

    holds: bool | None
    reason: str = ""
    value: str = ""
    base: str = ""
    limit: float = 0.0
    none: tuple[str, ...] = ()


@dataclass(frozen=True)
class AllHold:
    """Whether each of several limits holds, as it is printed."""

    limits: tuple[Holds, ...]


@dataclass(frozen=True)
class Foreign:
    """Words written elsewhere (a warning, a reason): counts and row numbers in them are protected too."""

    text: str


@dataclass(frozen=True)
class InternalOnly:
    """Exact matter that exists only in a confidential document; `otherwise` stands in its place elsewhere, if given."""

    content: Tree
    otherwise: Tree = None


@dataclass(frozen=True)
class Levels:
    """The levels of a key (or sizes of households) with their numbers; rare ones and the tail are pooled.

    Parameters
    ----------
    name, counts
        Start of the variables' names; label and number of each level.
    whole, n
        The total: its variable and its true number.
    missing, n_missing
        The same for those without a value, where there are any.
    shown
        How many levels are shown at most.
    records
        Variable of the records, where a label is a number of records (the size of a household).
    sizes
        The cells by size, where the levels are the cells: those of an intruder with one key.
    """

    name: str
    counts: tuple[tuple[str, int], ...]
    whole: str
    n: int
    missing: str = ""
    n_missing: int = 0
    shown: int = 8
    records: str = ""
    sizes: Sizes | None = None


@dataclass(frozen=True)
class Ranked:
    """Rows in the order of what is printed of their ``n``: the order of the true numbers would be told."""

    rows: tuple[Mapping[str, Tree], ...]


@dataclass(frozen=True)
class SizeClasses:
    """Numbers of equal-sized groups by their size (cells by records, households by members).

    `alone` is the quantity that the groups of one are, too.
    """

    name: str
    counts: tuple[tuple[str, int], ...]
    alone: Quantity | None = None


@dataclass(frozen=True)
class Histogram:
    """Records by risk in fixed bins.

    Parameters
    ----------
    name, edges, counts
        Start of the variables' names, the edges and the records of every bin.
    whole
        Variable of all records.
    total, above
        Variables that the bins bound: the sum of the risks, the records above a limit.
    sizes, largest
        Where risk follows from the size of the cell: the sizes, and the largest cell whose records have at
        least the risk of an edge.
    guard
        Of the bins, as of a variable: there is but one where it fails.
    """

    name: str
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    whole: str
    total: str = ""
    above: tuple[tuple[str, float], ...] = ()
    sizes: Sizes | None = None
    largest: Mapping[float, float] = field(default_factory=dict)
    guard: tuple[str, ...] = ()


Leaf = (
    Count | Value | Share | Ratio | Difference | Cumulative | Total | Chance | Guarded | Part | Told | Holds | AllHold
    | Foreign | InternalOnly | Levels | Ranked | SizeClasses | Histogram
)  # fmt: skip
Tree = Leaf | str | int | float | bool | None | Mapping[str, "Tree"] | tuple["Tree", ...]


@dataclass
class Ledger:
    """Collects the true numbers and the relations between them while a document is built."""

    variables: dict[str, Variable] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)

    def count(
        self,
        name: str,
        true: int,
        group: str,
        *,
        watched: Watched = "everywhere",
        of: Quantity | None = None,
        guard: tuple[str, ...] = (),
    ) -> Count:
        """Enter a count and give its leaf; a quantity that is there already is coarsened together with it."""
        self._enter(name, Variable(int(true), group, watched=watched, of=of, guard=guard))
        return Count(name)

    def value(
        self,
        name: str,
        true: float,
        group: str,
        *,
        kind: Kind = "value",
        of: Quantity | None = None,
        guard: tuple[str, ...] = (),
    ) -> Value:
        """Enter an estimated number and give its leaf."""
        self._enter(name, Variable(float(true), group, kind, of=of, guard=guard))
        return Value(name)

    def _enter(self, name: str, new: Variable) -> None:
        """Where the quantity has a name already, the two are one number."""
        twins = [] if new.of is None else [at for at, old in self.variables.items() if old.of == new.of and at != name]
        self.variables[name] = replace(new, group=self.variables[twins[0]].group) if twins else new
        same = next((at for at in twins if self.variables[at].true == new.true), None)
        if same is not None:
            self.equal(name, same)

    def tell(self, name: str, low: float, high: float = math.inf) -> None:
        """Say that the document tells the number to lie between these, whatever is printed of it."""
        known = self.variables[name]
        bounds = (max(low, known.stated[0]), min(high, known.stated[1]))
        self.variables[name] = replace(known, stated=bounds)

    def tell_none(self, names: Sequence[str]) -> None:
        """Say that the document tells whether all these numbers are 0."""
        if not any(self.variables[name].true for name in names):
            for name in names:
                self.tell(name, 0.0, 0.0)
        elif len(names) == 1:
            self.tell(names[0], 1.0)
        else:
            self.relations.append(Relation(tuple((name, 1.0) for name in names), 1.0, math.inf))

    def ask(self, name: str) -> None:
        """Say that a figure is there because this document asks for it."""
        self.variables[name] = replace(self.variables[name], late=True)

    def latent(self, name: str, *, watched: Watched = "everywhere") -> str:
        """Enter a count that is never printed but could be worked out."""
        self.variables.setdefault(name, Variable(None, watched=watched))
        return name

    def equal(self, whole: str, *parts: str) -> None:
        """Whole = sum of the parts."""
        self.relations.append(Relation(((whole, 1.0), *((part, -1.0) for part in parts))))

    def nested(self, whole: str, part: str) -> None:
        """Part is contained in whole; what lies between them is watched like a count of its own."""
        if whole != part and {whole, part} <= self.variables.keys():
            self.equal(whole, part, self.latent(f"{whole}{DIFFERENCE}{part}"))

    def bounded(
        self, total: str, parts: Mapping[str, tuple[float, float]], *, upper: bool = True, lower: bool = True
    ) -> None:
        """Keep total between the sums of low x part and high x part."""
        if lower:
            terms = tuple((name, -low) for name, (low, _) in parts.items() if low)
            self.relations.append(Relation(((total, 1.0), *terms), upper=float("inf")))
        if upper:
            terms = tuple((name, -high) for name, (_, high) in parts.items() if high)
            self.relations.append(Relation(((total, 1.0), *terms), lower=-float("inf")))


@dataclass(frozen=True)
class Document:
    """A tree of figures named as in the API, with what links them; the only thing `protect` takes.

    `base` is the file that quantities without one are figures of; `listed`: whether its quantities are listed for
    documents that are written later.
    """

    tree: Mapping[str, Tree]
    variables: Mapping[str, Variable]
    relations: tuple[Relation, ...]
    n: int | None
    base: str = ""
    listed: bool = False
