"""Earlier documents of the same file: what they have printed is known, and enters the ledger as intervals.

Each protected document of an assessment lists its quantities with the intervals of their prints. If the new document
has the quantity, too, the intervals are intersected; if not, its keys determine which of the others contain it.
"""

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from sdckit.data.files.file_limits import json_in
from sdckit.display import printable
from sdckit.errors import FileFormatError
from sdckit.report.gate import audit, choose_rounding, figures, rounding

# Join the documents of several files: one ledger, one audit, one print for each quantity.
# A figure of the release narrows one of the original, and a figure of a step one of the release. So each file has its
# own document, and these are joined before anything is protected.


# Fields of each type of leaf that are names of variables or their prefixes; a type not listed cannot be joined.
NAMES: Mapping[type, tuple[str, ...]] = {
    figures.Count: ("name",), figures.Value: ("name",), figures.Share: ("part", "whole"),
    figures.Ratio: ("value", "count"), figures.Difference: ("whole", "part"), figures.Total: ("family",),
    figures.Cumulative: ("parts", "wholes"), figures.Chance: ("hits", "misses"), figures.Guarded: ("name", "base"),
    figures.Part: ("base",), figures.Moved: ("base",), figures.Told: ("bases",),
    figures.Holds: ("none", "value", "base"), figures.AllHold: (), figures.Foreign: (), figures.Ranked: (),
    figures.InternalOnly: (), figures.Levels: ("name", "whole", "missing", "records"), figures.SizeClasses: ("name",),
    figures.Histogram: ("name", "whole", "total", "guard"),
}  # fmt: skip
Rename = Callable[[str], str]


def join(
    ledger: figures.Ledger, document: figures.Document, prefix: str = "", *, same: Mapping[str, str] | None = None
) -> Mapping[str, figures.Tree]:
    """Enter the variables of a document under a prefix, and return its tree with their new names.

    A quantity that the ledger has already is not entered again; `same` maps further variables to those of the ledger.
    The number of records of a file is known to anybody who has it.

    Examples
    --------
    >>> ledger, part = figures.Ledger(), figures.Ledger()
    >>> alone = figures.Quantity("records alone", "release 1")
    >>> first, again = ledger.count("u", 7, "u", of=alone), part.count("alone", 7, "x", of=alone)
    >>> join(ledger, figures.Document({"alone": again}, part.variables, (), None), "steps: ")
    {'alone': Count(name='u')}
    >>> list(ledger.variables)
    ['u']
    """
    known = dict(same or {})
    for name, variable in document.variables.items():
        of = _quantity_with_file(name, variable, document.base)
        twin = known.get(name) or _twin(ledger, of, variable)
        if twin is not None:
            known[name] = twin
        else:
            group = variable.group and prefix + variable.group
            ledger.variables[prefix + name] = replace(variable, group=group, of=of)

    def rename(name: str) -> str:
        return known.get(name, prefix + name)

    for name, variable in document.variables.items():
        if variable.guard and name not in known:
            here = ledger.variables[prefix + name]
            ledger.variables[prefix + name] = replace(here, guard=tuple(map(rename, variable.guard)))

    ledger.relations += filter(None, (_renamed_relation(relation, rename) for relation in document.relations))
    if document.n is not None and "n" in document.variables:
        ledger.relations.append(figures.Relation(((rename("n"), 1.0),), document.n, document.n))
    return {key: _renamed(subtree, rename, document.base) for key, subtree in document.tree.items()}


def _quantity_with_file(name: str, variable: figures.Variable, base: str) -> figures.Quantity | None:
    """The quantity of a variable with its file; unchanged for a variable that is never printed."""
    if variable.true is None or figures.DIFFERENCE in name:
        return variable.of
    of = variable.of or figures.Quantity(name)
    return replace(of, base=of.base or base)


def _twin(ledger: figures.Ledger, of: figures.Quantity | None, variable: figures.Variable) -> str | None:
    """The ledger's variable of the same quantity and the same true number; None if there is none."""
    if of is None or variable.true is None:
        return None
    for name, other in ledger.variables.items():
        if other.true is not None and math.isclose(other.true, variable.true, rel_tol=1e-9) and other.of == of:
            return name
    return None


def _renamed_relation(relation: figures.Relation, rename: Rename) -> figures.Relation | None:
    terms: dict[str, float] = {}
    for name, factor in relation.terms:
        terms[rename(name)] = terms.get(rename(name), 0.0) + factor
    left = tuple((name, factor) for name, factor in terms.items() if factor)
    return figures.Relation(left, relation.lower, relation.upper) if left else None


def _renamed(tree: Any, rename: Rename, base: str) -> Any:
    if isinstance(tree, Mapping):
        return {key: _renamed(subtree, rename, base) for key, subtree in tree.items()}
    if isinstance(tree, tuple):
        return tuple(_renamed(subtree, rename, base) for subtree in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    changes: dict[str, Any] = {name: _renamed_names(getattr(tree, name), rename) for name in NAMES[type(tree)]}
    present = {field.name for field in fields(tree)}
    for name in {"content", "otherwise", "limits", "rows"} & present:
        changes[name] = _renamed(getattr(tree, name), rename, base)
    if isinstance(tree, figures.Histogram):
        changes["above"] = tuple((rename(name), limit) for name, limit in tree.above)
    if isinstance(tree, figures.Histogram | figures.Levels):
        changes["sizes"] = tree.sizes and replace(tree.sizes, prefix=rename(tree.sizes.prefix))
    if isinstance(tree, figures.SizeClasses) and tree.alone is not None:
        changes["alone"] = replace(tree.alone, base=tree.alone.base or base)
    return replace(tree, **changes)


def _renamed_names(names: Any, rename: Rename) -> Any:
    if isinstance(names, tuple):
        return tuple(rename(name) for name in names)
    return rename(names) if names else names


FILE = ("", "original")
PARTS = ("name", "base", "rule", "intruder")
AGAIN = "take it out of the folder, or write it again with this version"


@dataclass(frozen=True)
class Earlier:
    """A figure that a document has printed: `low` to `high` is the interval its print allows."""

    source: str
    of: figures.Quantity
    low: float
    high: float


def quantities_of(prints: Mapping[str, rounding.Print], ledger: figures.Ledger, base: str) -> list[dict[str, Any]]:
    """The counts of an intruder with the intervals of their prints, for documents that are written later."""
    by_quantity: dict[figures.Quantity, rounding.Print] = {}
    for name, printed in prints.items():
        of = ledger.variables[name].of
        if of is not None and of.intruder and ledger.variables[name].kind == "count" and printed.high < math.inf:
            by_quantity[replace(of, base=of.base or base)] = printed
    return [
        {**{part: printable(getattr(of, part)) for part in PARTS}, "low": printed.low, "high": printed.high}
        for of, printed in by_quantity.items()
    ]


def read_beside(folder: str | os.PathLike[str]) -> tuple[Earlier, ...]:
    """Read the protected JSON documents in a folder.

    Raises
    ------
    FileFormatError
        There is no such folder, no JSON in it, or a file that is no protected document of an assessment.
    """
    at = Path(folder)
    paths = sorted(at.glob("*.json")) if at.is_dir() else []
    if not paths:
        raise FileFormatError(
            f"{at.name} is no folder with JSON documents of this file; give one, or leave out --beside"
        )
    return tuple(figure for path in paths for figure in _read(path))


def _read(path: Path) -> Iterable[Earlier]:
    try:
        plain = json_in(path)
        if not str(plain["schema"]).startswith("sdckit/") or not plain["protected"]:
            raise ValueError
        rows = plain["quantities"]
        return [
            Earlier(
                path.name, figures.Quantity(*(str(row[part]) for part in PARTS)), float(row["low"]), float(row["high"])
            )
            for row in rows
        ]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        raise FileFormatError(f"{path.name} is no protected JSON document of an assessment; {AGAIN}") from None


def enter_beside(document: figures.Document, earlier: Sequence[Earlier]) -> figures.Document:
    """Enter the intervals that earlier documents of the same file have printed; those of releases are skipped.

    Raises
    ------
    FileFormatError
        An interval does not contain the true number: its document is one of another file.
    """
    ledger = figures.Ledger(dict(document.variables), list(document.relations))
    known = {
        _quantity_key(variable.of): name
        for name, variable in ledger.variables.items()
        if variable.of is not None and variable.true is not None and (variable.of.base or document.base) in FILE
    }
    if not earlier:
        return document
    for figure in earlier:
        if figure.of.base not in FILE:
            continue
        name = known.setdefault(_quantity_key(figure.of), f"beside: {', '.join(_quantity_key(figure.of))}")
        true = ledger.variables[ledger.latent(name)].true
        if true is not None and not figure.low <= true <= figure.high:
            raise FileFormatError(
                f"{figure.source} says otherwise of {figure.of.name!r} ({figure.of.intruder}): it is of another file; "
                "take it out of the folder"
            )
        ledger.relations.append(figures.Relation(((name, 1.0),), figure.low, figure.high))
    _nest_earlier(ledger, known)
    _stop_watching_disclosed(ledger)
    return replace(document, variables=ledger.variables, relations=tuple(ledger.relations))


def not_alike(earlier: Sequence[Earlier], listed: Sequence[Mapping[str, Any]]) -> list[Earlier]:
    """The figures of earlier documents that the quantities `listed` by one of the same file do not print alike."""
    rows = [(figures.Quantity(*(row[part] for part in PARTS)), row["low"], row["high"]) for row in listed]
    known = {(*_quantity_key(of), low, high) for of, low, high in rows if of.base in FILE}
    return [
        figure
        for figure in earlier
        if figure.of.base in FILE and (*_quantity_key(figure.of), figure.low, figure.high) not in known
    ]


def _stop_watching_disclosed(ledger: figures.Ledger) -> None:
    """Stop watching counts that the earlier documents disclose by themselves: they cannot be hidden any more."""
    whole = [name for name, variable in ledger.variables.items() if variable.kind == "count"]
    # Rows of tables that are pooled later are not entered yet.
    entered = [relation for relation in ledger.relations if all(name in ledger.variables for name, _ in relation.terms)]
    relations = choose_rounding.sound_relations(ledger.variables, entered, whole)
    n = ledger.variables.get("n")
    bounds = dict.fromkeys(ledger.variables, (0.0, math.inf))
    if n is not None and n.true is not None:
        bounds["n"] = (n.true, n.true)
    for name, (low, high) in (audit.propagate(bounds, audit.make_system(relations, whole)) or {}).items():
        if high - low < audit.SAFE_VALUES - 1 and high > 0 and low < audit.SMALL:
            ledger.variables[name] = replace(ledger.variables[name], watched="nowhere")


def _quantity_key(of: figures.Quantity) -> tuple[str, str, str]:
    """Name, rule and sorted keys of a quantity: equal keys are the same intruder, whatever it is called."""
    return of.name, of.rule, printable(", ".join(sorted(_keys(of.intruder))))


def _keys(intruder: str) -> list[str]:
    return intruder.partition(": ")[2].split(", ")


def _nest_earlier(ledger: figures.Ledger, known: Mapping[tuple[str, str, str], str]) -> None:
    """Nest counts of records in small classes: those by fewer keys in those by more, smaller classes in larger ones.

    With missing values as wildcards a record may lack all of the fewer keys: then nothing follows for other keys.
    """
    rows = [(size, frozenset(keys.split(", ")), rule, name) for (words, rule, keys), name in known.items()
            if (size := _below(words))]  # fmt: skip
    for size, keys, rule, part in rows:
        for larger, more, other, whole in rows:
            if part == whole or rule != other or not (part.startswith("beside") or whole.startswith("beside")):
                continue
            nested = keys == more and size < larger
            if nested or (size <= larger and keys < more and rule != "wildcard"):
                ledger.nested(whole, part)


def _below(words: str) -> int:
    """The k of "records in groups of fewer than k", by the words of the quantity; 0 for other quantities."""
    if words == "Records alone with their combination":
        return 2
    last = words.rpartition(" ")[2]
    return int(last) if words.startswith("Records in groups of fewer than ") and last.isdigit() else 0
