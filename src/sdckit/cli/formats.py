"""Numbers for a terminal: one way to write each, everywhere."""

from __future__ import annotations


def count(value: float) -> str:
    """Write a number of records.

    Examples
    --------
    >>> count(6366), count(1.5)
    ('6,366', '1.5')
    """
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.1f}"


def percent(part: float, whole: float) -> str:
    """Write a share with two significant digits; all is said only of all, nothing only of nothing.

    Examples
    --------
    >>> percent(1, 3), percent(1, 2000), percent(0, 5), percent(1999, 2000)
    ('33 %', '0.050 %', '0 %', '>99 %')
    """
    share = 100 * part / whole if whole else 0.0
    if 99.5 <= share < 100:
        return ">99 %"
    return f"{share:.0f} %" if share == 0 or share >= 9.95 else f"{share:#.2g} %"


def number(value: float | None) -> str:
    """Write a figure with four significant digits, or a dash where there is none.

    Examples
    --------
    >>> number(0.0158234), number(None), number(float("nan"))
    ('0.01582', '–', '–')
    """
    return "–" if value is None or value != value else f"{value:.4g}"  # noqa: PLR0124 - NaN only
