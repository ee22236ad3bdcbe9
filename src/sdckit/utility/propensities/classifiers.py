"""Models that predict membership: the logistic one, a tree, or any classifier of scikit-learn."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdckit.errors import DataError
from sdckit.numerics.array_types import Floats
from sdckit.utility.propensities.membership_tree import Tree


def checked_classifier(model: Any, state: int, *, seeded: bool) -> tuple[str, Any]:
    """The name of the model, and what it is: None for ``"logit"``, a `Tree`, or an estimator to be cloned.

    The random numbers of an estimator are fixed.

    `seeded`: whether the caller gave a seed: it then replaces a state that the estimator has of its own. Raises
    DataError: an unknown name, or an estimator that gives no probabilities.
    """
    if isinstance(model, str):
        if model == "logit":
            return model, None
        if model == "cart":
            return model, Tree()
        raise DataError(
            f"model {model!r} is unknown; give 'logit', 'cart' or a scikit-learn classifier", argument="model"
        )
    if not hasattr(model, "fit") or not hasattr(model, "predict_proba") or isinstance(model, type):
        raise DataError(
            "model must be 'logit', 'cart' or a scikit-learn classifier (an object with fit and predict_proba)",
            argument="model",
        )
    from sklearn.base import clone

    estimator = clone(model)
    drawing = {
        name: state
        for name, value in estimator.get_params().items()
        if name.split("__")[-1] == "random_state" and (value is None or seeded)
    }
    return type(model).__name__, estimator.set_params(**drawing)


def fit_scores(
    estimator: Any, features: NDArray[Any], member: NDArray[np.bool_], warned: Counter[str] | None = None
) -> tuple[Floats, Any]:
    """Fit a clone and give each row's probability of being released, and the fitted clone.

    `features` (n_rows, n_columns). `member` (n_rows,): whether the row is released. `warned`: told the kinds of
    warnings. Raises DataError: it cannot be fitted or asked, or gives something else than probabilities.
    """
    from sklearn.base import clone

    fitted = clone(estimator)
    name = type(estimator).__name__
    try:
        with warnings.catch_warnings(record=True) as caught:  # their messages may show values
            warnings.simplefilter("always")
            score = np.asarray(
                fitted.fit(features, member.astype(np.int64)).predict_proba(features), np.float64
            )[:, 1]
    except Exception as error:  # noqa: BLE001 - any estimator may be given, and its messages may show values
        raise DataError(
            f"the model {name} could not be fitted and asked ({type(error).__name__}); try it on the data alone to "
            "see why"
        ) from None
    if score.shape != member.shape or not (
        np.isfinite(score).all() and score.min() >= 0 and score.max() <= 1
    ):
        raise DataError(f"the model {name} does not give a probability from 0 to 1 for each row")
    if warned is not None:
        warned.update(warning.category.__name__ for warning in caught)
    return score, fitted


def importances(fitted: Any, features: NDArray[Any], variables: Sequence[str]) -> dict[str, float] | None:
    """The share that each variable has in what the model does, summed over its columns; None where it does not say.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> x = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0]])
    >>> importances(DecisionTreeClassifier().fit(x, [0, 0, 1]), x, ["sex", "age"])
    {'sex': 1.0, 'age': 0.0}
    """
    weight = getattr(fitted, "feature_importances_", None)
    if weight is None and (slopes := getattr(fitted, "coef_", None)) is not None:
        slope = np.asarray(slopes, np.float64)
        weight = np.abs(slope.reshape(-1, slope.shape[-1])).sum(axis=0)
        weight = weight * features.std(axis=0) if len(weight) == features.shape[1] else None
    if weight is None or len(weight) != len(variables):
        return None
    total = float(np.sum(weight))
    found = dict.fromkeys(variables, 0.0)
    for name, part in zip(variables, weight, strict=True):
        found[name] += float(part) / total if total > 0 else 0.0
    return found
