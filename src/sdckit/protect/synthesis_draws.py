"""Draws from the posterior of a synthesis model, kept for measures of risk that need them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.data.columns import code_column, float_values
from sdckit.data.frames import open_frame
from sdckit.errors import DataError
from sdckit.protect.synthesis_design import Seen, Term, design_matrix
from sdckit.protect.synthesis_variables import MISSING, Values, number_label

__all__ = ["PosteriorDraws", "posterior_draws"]

Floats = NDArray[np.float64]
MOST_RATE = 700.0  # log of the largest mean of counts


class PosteriorDraws(Mapping[str, Any]):
    """Parameters of one column's model, drawn H times from their posterior.

    It reads as a mapping of plain numbers, texts and lists, so that an internal log can hold it;
    ``PosteriorDraws(mapping)`` makes it again from there.

    Attributes
    ----------
    column, model : str
        What is modelled, and by which of "normal", "logistic", "multinomial" and "poisson".
    terms : list of dict
        Columns of the design after the intercept: ``column``, ``kind``, ``level``, ``centre``, ``scale``.
    levels : list of str or None
        Of categories: their levels (None: missing). A logistic model gives the odds of the second.
    coefficients : list, shape (H, K, p)
        p the intercept and the terms; K = 1, or the number of levels of a multinomial model.
    scale : list of float, shape (H,), or None
        Residual standard deviation of a normal model.
    missing : mapping or None
        The same for the model of being missing, where that was modelled first.

    Examples
    --------
    >>> import polars as pl
    >>> coin = PosteriorDraws({
    ...     "column": "y", "model": "logistic", "terms": [], "levels": ["no", "yes"],
    ...     "coefficients": [[[0.0]]], "scale": None, "missing": None,
    ... })
    >>> np.exp(coin.log_density(pl.DataFrame({"y": ["yes", "no"]}))).tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = dict(fields)

    def __getitem__(self, name: str) -> Any:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __repr__(self) -> str:
        return f"PosteriorDraws({self['column']!r}, {self['model']!r}, {len(self['coefficients'])} draws)"

    def log_density(self, data: Any) -> Floats:
        """Log density of what each record holds in the column, given its predictors, under each draw.

        Parameters
        ----------
        data : data frame
            The column and its predictors, typed as in the data that was synthesised: the original, a release,
            or an intruder's guesses.

        Returns
        -------
        ndarray, float64, shape (H, n)
            A density for numbers of a normal model, else a probability; minus infinity for a level unknown.
        """
        frame: Any = open_frame(data)
        found = self._density(self._linear(frame), frame[self["column"]])
        if self["missing"] is None:
            return found
        gone = code_column(frame[self["column"]])
        is_gone = gone.codes() == gone.span
        model = self["missing"]
        share = PosteriorDraws(model)._of_event(frame, is_gone)
        return np.where(is_gone, share, share + found)

    def predictive(self, data: Any) -> dict[str, Floats]:
        """The distribution of each record's value under each draw, as `bayesian_attribute_risk` takes it.

        Parameters
        ----------
        data : data frame
            The predictors, typed as in the data that was synthesised: those of the original.

        Returns
        -------
        dict of str to ndarray
            ``mean`` (H, n) and ``sd`` (H,) of a normal model; ``probability`` (H, n, L) of categories, their
            levels in ascending order.

        Raises
        ------
        DataError
            A model of counts, or a column that can be missing: their risk needs other draws.
        """
        if self["missing"] is not None or self["model"] == "poisson" or None in (self["levels"] or ()):
            raise DataError(
                f"column {self['column']!r}: draws of counts, or of values that may be missing, are not of a kind that "
                "bayesian_attribute_risk takes; give it log_guess, truth and log_released (log_density computes them)"
            )
        eta = self._linear(open_frame(data))
        if self["model"] == "normal":
            return {"mean": eta[:, 0], "sd": np.asarray(self["scale"], float)}
        if self["model"] == "logistic":
            eta = np.stack([np.zeros_like(eta[:, 0]), eta[:, 0]], axis=1)
        share = np.exp(eta - np.logaddexp.reduce(eta, axis=1)[:, None])
        order = sorted(range(len(self["levels"])), key=lambda at: _in_order(self["levels"][at]))
        return {"probability": np.moveaxis(share[:, order], 1, 2)}

    def _linear(self, frame: Any) -> Floats:
        """Linear predictors, shape (H, K, n)."""
        terms = [Term(**one) for one in self["terms"]]
        predictors = {
            one.column: _read(frame[one.column], number=_is_number(terms, one.column)) for one in terms
        }
        X = design_matrix(terms, predictors, len(frame))
        found: Floats = np.einsum("np,hkp->hkn", X, np.asarray(self["coefficients"], float))
        return found

    def _of_event(self, frame: Any, event: NDArray[np.bool_]) -> Floats:
        """Log probability that an event, being missing, did or did not happen."""
        eta = self._linear(frame)[:, 0]
        return np.asarray(-np.logaddexp(0.0, np.where(event, -eta, eta)), np.float64)

    def _density(self, eta: Floats, series: Any) -> Floats:
        if self["model"] in {"normal", "poisson"}:
            values = float_values(series, "column")
            if self["model"] == "normal":
                sd = np.asarray(self["scale"], float)[:, None]
                return np.asarray(-0.5 * ((values - eta[:, 0]) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi)))
            from scipy.special import gammaln

            rate = np.minimum(eta[:, 0], MOST_RATE)
            return np.asarray(values * rate - np.exp(rate) - gammaln(values + 1))
        held = _read(series, number=False)
        place = {text: at for at, text in enumerate(held.labels)}
        codes = [MISSING if text is None else place.get(text, -9) for text in self["levels"]]
        if self["model"] == "logistic":
            second = held.values.level == codes[1]
            known = second | (held.values.level == codes[0])
            return np.where(known, -np.logaddexp(0.0, np.where(second, -eta[:, 0], eta[:, 0])), -np.inf)
        total = np.logaddexp.reduce(eta, axis=1)
        found = np.full(total.shape, -np.inf)
        for at, code in enumerate(codes):
            here = held.values.level == code
            found[:, here] = eta[:, at, here] - total[:, here]
        return found


def _in_order(level: str) -> tuple[bool, float, str]:
    """Numbers before texts, each ascending: as levels of two files are coded."""
    try:
        return (False, float(level), "")
    except ValueError:
        return (True, 0.0, level)


def posterior_draws(
    column: str, model: str, terms: tuple[Term, ...], levels: list[str | None],
    coefficients: Floats, scale: Floats | None,
) -> PosteriorDraws:  # fmt: skip
    """Put the draws of one model into their plain form.

    Examples
    --------
    >>> posterior_draws("y", "normal", (), [], np.zeros((2, 1, 1)), np.ones(2))
    PosteriorDraws('y', 'normal', 2 draws)
    """
    return PosteriorDraws({
        "column": column, "model": model, "terms": [asdict(one) for one in terms], "levels": levels,
        "coefficients": coefficients.tolist(), "scale": None if scale is None else scale.tolist(), "missing": None,
    })  # fmt: skip


def _is_number(terms: list[Term], column: str) -> bool:
    return any(one.column == column and one.kind != "level" for one in terms)


def _read(series: Any, *, number: bool) -> Seen:
    coded = code_column(series)
    codes, level = np.unique(coded.codes(), return_inverse=True)
    known = codes < coded.span
    level = np.where(known[level], level, MISSING).reshape(-1)
    if number:
        if coded.kind == "date":
            from sdckit.protect.synthesis_variables import read_variable

            return Seen(read_variable(series).held, ())
        return Seen(Values(level, float_values(series, "column")), ())
    labels = coded.labels(codes[known])
    if coded.kind in {"integer", "number"}:
        labels = [number_label(float(text)) for text in labels]
    return Seen(Values(level, None), labels)
