"""Input: data frames, files, column roles and scenarios, all validated on entry."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _OnDemand(ModuleType):
    """A module that is slow to load, imported on first attribute access: `import sdckit` loads none."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # looked up once
        return value


if TYPE_CHECKING:
    import altair
    import pandas
    import polars
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet
    import pyarrow.types
    import scipy.special

    alt = altair
    pa = pyarrow
    pc = pyarrow.compute
    pd = pandas
    pl = polars
    pq = pyarrow.parquet
    pt = pyarrow.types
    special = scipy.special
else:
    alt = _OnDemand("altair")
    pa = _OnDemand("pyarrow")
    pc = _OnDemand("pyarrow.compute")
    pd = _OnDemand("pandas")
    pl = _OnDemand("polars")
    pq = _OnDemand("pyarrow.parquet")
    pt = _OnDemand("pyarrow.types")
    special = _OnDemand("scipy.special")
