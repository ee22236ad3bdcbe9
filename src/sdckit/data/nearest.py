"""Suggestions for misspelt names in error messages: the nearest existing name."""

import difflib
from collections.abc import Iterable


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate most similar to `name`, or None if none is similar.

    Names that differ only in case or surrounding spaces are preferred.

    >>> nearest("Regoin", ["region", "sex", "age"])
    'region'
    >>> nearest("zzz", ["region", "sex"]) is None
    True
    """
    folded: dict[str, str] = {}
    for candidate in candidates:
        folded.setdefault(candidate.strip().casefold(), candidate)
    wanted = name.strip().casefold()
    if wanted in folded:
        return folded[wanted]
    close = difflib.get_close_matches(wanted, list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def did_you_mean(name: object, candidates: Iterable[object]) -> str:
    """The end of a message: the nearest name, or the existing names (at most twelve).

    Names need not be strings: pandas also has numbered columns.

    >>> did_you_mean("wieght", ["weight", "household"])
    "did you mean 'weight'?"
    >>> did_you_mean("zzz", ["weight", "household"])
    'there are: weight, household'
    """
    names = [str(candidate) for candidate in candidates]
    close = nearest(str(name), names)
    if close is not None:
        return f"did you mean '{close}'?"
    if not names:
        return "there are none"
    shown = ", ".join(names[:12])
    return f"there are: {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")
