"""Put the documents of several files into one: one ledger, one audit, one print for one quantity.

Whoever reads a document reads all of it: a figure of the release narrows one of the original, a step's one of the
release. So each part is written as a document of its own file, and joined before anything is protected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from sdckit.report.gate.figures import (
    DIFFERENCE,
    AllHold,
    Chance,
    Count,
    Cumulative,
    Difference,
    Document,
    Foreign,
    Guarded,
    Histogram,
    Holds,
    InternalOnly,
    Ledger,
    Levels,
    Part,
    Quantity,
    Ranked,
    Ratio,
    Relation,
    Share,
    SizeClasses,
    Told,
    Total,
    Tree,
    Value,
    Variable,
)

# What in a leaf is the name of a variable (or the start of one); a leaf that is not listed cannot be joined.
NAMES: Mapping[type, tuple[str, ...]] = {
    Count: ("name",), Value: ("name",), Share: ("part", "whole"), Ratio: ("value", "count"),
    Difference: ("whole", "part"), Total: ("family",), Cumulative: ("parts", "wholes"), Chance: ("hits", "misses"),
    Guarded: ("name", "base"), Part: ("base",), Told: ("bases",), Holds: ("none", "value", "base"),
    AllHold: (), Foreign: (), Ranked: (), InternalOnly: (),
    Levels: ("name", "whole", "missing", "records"), SizeClasses: ("name",),
    Histogram: ("name", "whole", "total", "guard"),
}  # fmt: skip
Rename = Callable[[str], str]


def join(
    ledger: Ledger, document: Document, prefix: str = "", *, same: Mapping[str, str] | None = None
) -> Mapping[str, Tree]:
    """Enter the figures of a document under a prefix, and give its tree with their new names.

    A quantity that the ledger has already is not entered again; `same` says which other variables are ones of the
    ledger. The number of records of a file is known to whoever has it.

    Examples
    --------
    >>> ledger, part = Ledger(), Ledger()
    >>> alone = Quantity("records alone", "release 1")
    >>> first, again = ledger.count("u", 7, "u", of=alone), part.count("alone", 7, "x", of=alone)
    >>> join(ledger, Document({"alone": again}, part.variables, (), None), "steps: ")
    {'alone': Count(name='u')}
    >>> list(ledger.variables)
    ['u']
    """
    known = dict(same or {})
    for name, one in document.variables.items():
        of = _of(name, one, document.base)
        twin = known.get(name) or _twin(ledger, of, one)
        if twin is not None:
            known[name] = twin
        else:
            group = one.group and prefix + one.group
            ledger.variables[prefix + name] = replace(one, group=group, of=of)

    def rename(name: str) -> str:
        return known.get(name, prefix + name)

    for name, one in document.variables.items():
        if one.guard and name not in known:
            here = ledger.variables[prefix + name]
            ledger.variables[prefix + name] = replace(here, guard=tuple(map(rename, one.guard)))

    ledger.relations += filter(None, (_renamed_relation(one, rename) for one in document.relations))
    if document.n is not None and "n" in document.variables:
        ledger.relations.append(Relation(((rename("n"), 1.0),), document.n, document.n))
    return {key: _renamed(one, rename, document.base) for key, one in document.tree.items()}


def _of(name: str, one: Variable, base: str) -> Quantity | None:
    """The quantity with its file; a number that is never printed is none."""
    if one.true is None or DIFFERENCE in name:
        return one.of
    of = one.of or Quantity(name)
    return replace(of, base=of.base or base)


def _twin(ledger: Ledger, of: Quantity | None, one: Variable) -> str | None:
    """The variable that is this quantity; two numbers under one name stay two."""
    if of is None or one.true is None:
        return None
    for name, other in ledger.variables.items():
        if other.of == of and other.true is not None and math.isclose(other.true, one.true, rel_tol=1e-9):
            return name
    return None


def _renamed_relation(relation: Relation, rename: Rename) -> Relation | None:
    terms: dict[str, float] = {}
    for name, factor in relation.terms:
        terms[rename(name)] = terms.get(rename(name), 0.0) + factor
    left = tuple((name, factor) for name, factor in terms.items() if factor)
    return Relation(left, relation.lower, relation.upper) if left else None


def _renamed(tree: Any, rename: Rename, base: str) -> Any:
    if isinstance(tree, Mapping):
        return {key: _renamed(one, rename, base) for key, one in tree.items()}
    if isinstance(tree, tuple):
        return tuple(_renamed(one, rename, base) for one in tree)
    if not is_dataclass(tree) or isinstance(tree, type):
        return tree
    changes: dict[str, Any] = {
        name: _renamed_names(getattr(tree, name), rename) for name in NAMES[type(tree)]
    }
    present = {one.name for one in fields(tree)}
    for name in {"content", "otherwise", "each", "rows"} & present:
        changes[name] = _renamed(getattr(tree, name), rename, base)
    if isinstance(tree, Histogram):
        changes["above"] = tuple((rename(name), limit) for name, limit in tree.above)
    if isinstance(tree, Histogram | Levels):
        changes["sizes"] = tree.sizes and replace(tree.sizes, prefix=rename(tree.sizes.prefix))
    if isinstance(tree, SizeClasses) and tree.alone is not None:
        changes["alone"] = replace(tree.alone, base=tree.alone.base or base)
    return replace(tree, **changes)


def _renamed_names(names: Any, rename: Rename) -> Any:
    if isinstance(names, tuple):
        return tuple(rename(name) for name in names)
    return rename(names) if names else names
