"""What anybody knows of the figures of several files in one document: missing and changed values, steps, uniques.

Only what is true of the exact numbers is entered: nobody learns anything from the rest.
"""

from __future__ import annotations

import math

from sdckit.report.gate.figures import Ledger, Quantity, Relation
from sdckit.report.setting import changed_words, missing_words

ORIGINAL, RECODED = "original", "recoded original"
# Uniques of both files are uniques of the release: measures of both and their figures.
UNIQUES = {
    "replicated_uniques": ("share",),
    "identity_disclosure": ("unique_in_released", "replicated_uniques"),
}


def link_files(ledger: Ledger, m: int) -> None:
    """Link the numbers of one column, and of one intruder, over the original, its `m` releases and the steps."""
    at: dict[Quantity, str] = {}
    for name, one in ledger.variables.items():
        if one.of is not None and one.true is not None:
            at.setdefault(one.of, name)
    for j in range(1, m + 1):
        for column in _columns(at):
            _link_column(ledger, at, column, f"release {j}")
    for of, name in list(at.items()):
        # A recoded file has fewer groups, and larger ones.
        before = at.get(Quantity(of.name, ORIGINAL, of.rule, of.intruder)) if of.base == RECODED else None
        if before is not None and ledger.variables[name].kind == ledger.variables[before].kind == "count":
            link_parts(ledger, before, name)
    _link_uniques(ledger)


def link_parts(ledger: Ledger, whole: str, part: str) -> None:
    """Say that a part is in a whole, where it can be."""
    if {whole, part} <= ledger.variables.keys() and _true(ledger, whole) >= _true(ledger, part):
        ledger.nested(whole, part)


def _columns(at: dict[Quantity, str]) -> list[str]:
    starts = (missing_words(""), changed_words(""))
    found = (of.name.removeprefix(start) for start in starts for of in at if of.name.startswith(start))
    return list(dict.fromkeys(found))


def _link_column(ledger: Ledger, at: dict[Quantity, str], column: str, release: str) -> None:
    touched = at.get(Quantity(changed_words(column), release))
    if touched is None:
        return
    missing = missing_words(column)
    before = at.get(Quantity(missing, ORIGINAL), at.get(Quantity(missing, RECODED)))
    after = at.get(Quantity(missing, release))
    if before is not None and after is not None:
        # What is missing in one of them only was changed; where all that was done is to suppress, nothing else was.
        for terms in (
            ((touched, 1.0), (after, -1.0), (before, 1.0)),
            ((touched, 1.0), (before, -1.0), (after, 1.0)),
        ):
            _enter(ledger, Relation(terms, upper=math.inf), Relation(terms))
    if after is not None:
        _enter(ledger, Relation(((touched, 1.0), (after, -1.0))))
    steps = [name for name in ledger.variables if _is_step(name, column) and name != touched]
    if steps:
        more = tuple((name, 1.0) for name in steps)
        _enter(ledger, Relation((*more, (touched, -1.0)), upper=math.inf))


def _is_step(name: str, column: str) -> bool:
    place, _, rest = name.partition(".")
    return place.startswith("steps: step") and rest == column


def _link_uniques(ledger: Ledger) -> None:
    for name in list(ledger.variables):
        prefix, _, rest = name.partition(".")
        measure, _, rest = rest.partition(".")
        j, _, figure = rest.partition(".")
        if not prefix.startswith("c") or figure not in UNIQUES.get(measure, ()):
            continue
        wholes = (f"release {j}: i{prefix[1:]}.sample_uniques{suffix}" for suffix in (".category", ""))
        whole = next((one for one in wholes if one in ledger.variables), name)
        link_parts(ledger, whole, name)


def _enter(ledger: Ledger, *relations: Relation) -> None:
    for relation in relations:
        total = sum(factor * _true(ledger, name) for name, factor in relation.terms)
        if relation.lower <= total <= relation.upper:
            ledger.relations.append(relation)


def _true(ledger: Ledger, name: str) -> float:
    return ledger.variables[name].true or 0.0
