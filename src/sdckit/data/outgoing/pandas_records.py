"""pandas frames with nothing but their records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sdckit.data.outgoing.arrow_records import arrow_column, column_use
from sdckit.data.outgoing.in_use import InUse, in_use

if TYPE_CHECKING:
    import pandas as pd


MASKED = ("Int", "UInt", "Float", "boolean")  # kept as values, and a mask over them


def pandas_use(frame: pd.DataFrame) -> dict[str, InUse]:
    """Categories of the categorical columns, and of the dictionary columns of Arrow."""
    import pandas as pd

    found = {}
    for name in frame.columns:
        series = frame[name]
        if isinstance(series.dtype, pd.CategoricalDtype):
            codes = np.asarray(series.cat.codes)
            found[name] = in_use(list(series.cat.categories), codes[codes >= 0])
        elif isinstance(series.dtype, pd.ArrowDtype):
            use = column_use(_arrow(series))
            found |= {} if use is None else {name: use}
    return found


def pandas_records(frame: pd.DataFrame, use: Mapping[str, InUse]) -> pd.DataFrame:
    """A frame of columns without anything that no record shows; its index keeps the values it shows."""
    out = frame.copy(deep=False)
    out.attrs = {}
    out.columns, out.index = _index(frame.columns).rename(None), _index(frame.index)
    for name in frame.columns:
        series = _bare(frame[name], use.get(name))
        if series is not None:
            series.index = out.index
            out[name] = series
    return out


def _index(index: pd.Index) -> Any:
    import pandas as pd

    if isinstance(index, pd.MultiIndex):
        return index.remove_unused_levels()
    return index.remove_unused_categories() if isinstance(index, pd.CategoricalIndex) else index


def _bare(series: pd.Series, use: InUse | None) -> pd.Series | None:
    """The column anew, or None where it shows all that it holds."""
    import pandas as pd
    from pandas.api.extensions import ExtensionArray

    if isinstance(series.dtype, pd.CategoricalDtype):
        assert use is not None
        return None if use.all_used else series.cat.set_categories(series.cat.categories[use.places])
    if hasattr(series.array, "__arrow_array__") and _on_arrow(series):
        return pd.Series(series.dtype.__from_arrow__(arrow_column(_arrow(series), use)))
    missing = series.isna().to_numpy()
    if isinstance(series.dtype, np.dtype) or not missing.any() or not _masked(series):
        return None
    array: ExtensionArray = series.array.copy()
    array[missing] = False if series.dtype == "boolean" else 0  # what a mask covers is kept otherwise
    array[missing] = pd.NA
    return pd.Series(array)


def _masked(series: pd.Series) -> bool:
    return series.dtype.name.rstrip("0123456789") in MASKED


def _on_arrow(series: pd.Series) -> bool:
    import pandas as pd

    storage = getattr(series.dtype, "storage", None)
    return isinstance(series.dtype, pd.ArrowDtype) or storage == "pyarrow"


def _arrow(series: pd.Series) -> Any:
    import pyarrow as pa

    found = series.array.__arrow_array__()
    return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])
