"""Numbers that are one and the same: joined into one before anything is worked out of relations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from sdckit.report.gate.figures import Relation

# Longer sums are left as they are.
LONGEST = 24
TINY = 1e-9


def join_equal(names: Iterable[str], relations: Sequence[Relation]) -> tuple[dict[str, str], list[Relation]]:
    """Give the name that stands for each, the first of those that are equal, and the relations between these.

    Going from relation to relation does not see that a difference of two equal numbers is nothing; this does.

    Examples
    --------
    >>> same, left = join_equal("abd", [Relation((("a", 1.0), ("b", -1.0))),
    ...     Relation((("a", 1.0), ("b", -1.0), ("d", -1.0)))])
    >>> same["b"], left[0].terms
    ('a', (('d', -1.0),))
    """
    of = {name: name for name in names}
    place = {name: number for number, name in enumerate(of)}
    left = list(relations)
    while True:
        pairs = [pair for one in left if (pair := _equal(one)) is not None]
        if not pairs:
            return of, left
        for pair in pairs:
            first, second = sorted((_root(of, name) for name in pair), key=lambda name: place[name])
            of[second] = first
        of = {name: _root(of, name) for name in of}
        left = [joined for one in left if (joined := _joined(one, of)) is not None]


def _equal(relation: Relation) -> tuple[str, str] | None:
    if len(relation.terms) != 2 or relation.lower != 0 or relation.upper != 0:
        return None
    (one, factor), (other, against) = relation.terms
    return (one, other) if factor == -against and one != other else None


def _root(of: dict[str, str], name: str) -> str:
    while of[name] != name:
        name = of[name]
    return name


def _joined(relation: Relation, of: dict[str, str]) -> Relation | None:
    """The relation between those that stand for others; None where nothing is left of it."""
    factors: dict[str, float] = {}
    for name, factor in relation.terms:
        factors[of[name]] = factors.get(of[name], 0.0) + factor
    terms = tuple((name, factor) for name, factor in factors.items() if factor != 0)
    if not terms and relation.lower <= 0 <= relation.upper:
        return None
    return Relation(terms, relation.lower, relation.upper)


def between_sums(relations: Sequence[Relation]) -> list[Relation]:
    """Give the relations that follow where two have a part in common, and are shorter than the longer one.

    What two sums have in common drops out of their difference: that one number contains another, and the other one
    it, says that they are equal.

    Examples
    --------
    >>> one = Relation((("a", 1.0), ("b", -1.0), ("d", -1.0)))
    >>> other = Relation((("b", 1.0), ("a", -1.0), ("e", -1.0)))
    >>> between_sums([one, other])[0].terms
    (('d', -1.0), ('e', -1.0))
    """
    exact = [one for one in relations if one.lower == one.upper and 2 < len(one.terms) <= LONGEST]
    seen = {_signature(one) for one in exact}
    by_pair: dict[tuple[str, str], list[int]] = {}
    for number, one in enumerate(exact):
        for pair in combinations(sorted(name for name, _ in one.terms), 2):
            by_pair.setdefault(pair, []).append(number)
    tried: set[tuple[int, int]] = set()
    found: list[Relation] = []
    for numbers in by_pair.values():
        for first, second in combinations(numbers, 2):
            if (first, second) in tried:
                continue
            tried.add((first, second))
            new = _difference(exact[first], exact[second])
            if new is not None and (sign := _signature(new)) not in seen:
                seen.add(sign)
                found.append(new)
    return found


def _difference(one: Relation, other: Relation) -> Relation | None:
    factors, against = dict(one.terms), dict(other.terms)
    shared = [name for name in factors if name in against]
    ratios = {factors[name] / against[name] for name in shared}
    best = max(ratios, key=lambda ratio: sum(factors[name] == ratio * against[name] for name in shared))
    for name, factor in against.items():
        factors[name] = factors.get(name, 0.0) - best * factor
    terms = tuple((name, factor) for name, factor in factors.items() if abs(factor) > TINY)
    if not terms or len(terms) > min(len(one.terms), len(other.terms)):
        return None
    value = one.lower - best * other.lower
    return Relation(terms, value, value)


def _signature(one: Relation) -> frozenset[tuple[str, float]]:
    scale = min(one.terms)[1]
    return frozenset((name, round(factor / scale, 9)) for name, factor in one.terms)
