"""What a session shows of results: protected figures, or exact ones where they are asked for."""

from __future__ import annotations

from types import TracebackType

from sdckit.data import arguments
from sdckit.display import exact_shown


class Options:
    """Options that are set; as a context manager it puts back what was set before."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> None:
        """Go on with what was set when this was made."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Put back what was set before."""
        exact_shown.set(self._before)

    def __repr__(self) -> str:
        return f"options(exact={exact_shown.get()})"


def options(*, exact: bool) -> Options:
    """Set what notebooks show of results: for a ``with`` block, or called alone for the rest of the session.

    Results, assessments and charts are shown protected: a notebook is kept with its outputs and passed on. With
    ``exact=True`` they show exact figures under a line that says so. Files are not concerned: reports and JSON are
    exact only with ``internal=True``. Other threads keep what they have.

    Parameters
    ----------
    exact : bool
        Whether displays show exact figures.

    Returns
    -------
    Options
        A context manager that puts back what was set before.

    Raises
    ------
    DataError
        Not True or False.

    Examples
    --------
    >>> import polars as pl
    >>> survey = pl.DataFrame({"sex": ["f", "m"] * 50, "size": [1, 2, 3, 4, 5] * 20})
    >>> from sdckit import k_anonymity
    >>> found = k_anonymity(survey, keys=["sex", "size"])
    >>> with options(exact=True):
    ...     html = found._repr_html_()
    >>> "Exact figures: confidential" in html, "Exact figures: confidential" in found._repr_html_()
    (True, False)
    """
    arguments.flag(exact, "exact")
    before = exact_shown.get()
    exact_shown.set(exact)
    return Options(before)
