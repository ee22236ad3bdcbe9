"""Which interactions a log-linear model has: from an order, or from terms written by the analyst."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from sdckit.data import arguments
from sdckit.data.nearest import did_you_mean
from sdckit.errors import ColumnError, DataError
from sdckit.identity.population.log_linear import Term

Formula = str | Sequence[str | Sequence[str]]


def model_terms(keys: Sequence[str], interactions: int, formula: Formula | None) -> tuple[Term, ...]:
    """Interaction terms asked for (main effects are always in); empty for main effects alone.

    `interactions` is their highest order: 1 main effects, 2 all pairs, ...; `formula` has the terms themselves,
    ``"age:educ + sex:age:educ"``, or a list of such texts or of lists of keys.

    Examples
    --------
    >>> model_terms(["age", "sex", "educ"], 1, "age + age:educ")
    ((0, 2),)
    >>> model_terms(["age", "sex", "educ"], 2, None)
    ((0, 1), (0, 2), (1, 2))
    """
    arguments.count(interactions, "interactions", "is the highest order of a term, 1 being main effects")
    if interactions > len(keys):
        words = f"interactions={interactions} needs as many keys; there are {len(keys)}"
        raise DataError(words, argument="interactions")
    if formula is None:
        return tuple(combinations(range(len(keys)), interactions)) if interactions > 1 else ()
    if interactions > 1:
        words = "give formula= or interactions=, not both: each says which terms the model has"
        raise DataError(words, argument="formula")
    terms = [_term(keys, part) for part in _parts(formula)]
    return maximal([term for term in terms if len(term) > 1])


def _parts(formula: Formula) -> list[str | Sequence[str]]:
    if not isinstance(formula, str):
        return list(arguments.several(formula, "formula", "has the terms of the model"))
    text = formula.strip().removeprefix("~").strip()
    parts = text.split("+") if text else []
    if not all(part.strip() for part in parts):
        words = "formula: a term is empty; write keys joined by ':' and terms joined by '+'"
        raise DataError(words, argument="formula")
    return list(parts)


def _term(keys: Sequence[str], part: str | Sequence[str]) -> Term:
    if isinstance(part, str):
        whole = part.strip()
        names = [whole] if whole in keys else [name.strip() for name in whole.split(":")]
    else:
        names = list(arguments.several(part, "formula", "has a term that is no list of keys"))
    for name in names:
        if name not in keys:
            words = f"formula: {name!r} is no key; {did_you_mean(str(name), keys)}"
            raise ColumnError(f"{words} (join keys with ':', terms with '+')", argument="formula")
    return tuple(sorted({list(keys).index(name) for name in names}))


def maximal(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The terms that no other contains, in their order, each once.

    Examples
    --------
    >>> maximal([(0,), (0, 1), (2,), (0, 1)])
    ((0, 1), (2,))
    """
    distinct = list(dict.fromkeys(terms))
    return tuple(one for one in distinct if not any(set(one) < set(other) for other in distinct))


def term_name(keys: Sequence[str], term: Term) -> str:
    """A term in words: ``age:educ``."""
    return ":".join(keys[j] for j in term)


def term_names(keys: Sequence[str], terms: Sequence[Term]) -> tuple[str, ...]:
    """The whole model: every key, then the interactions."""
    return (*keys, *(term_name(keys, term) for term in terms))
