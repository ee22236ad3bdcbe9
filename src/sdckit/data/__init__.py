"""Input: data frames, files, column roles and scenarios, all validated on entry."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _OnDemand(ModuleType):
    """A module of an engine, imported on first attribute access: `import sdckit` loads none."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)  # looked up once
        return value


if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    import pyarrow.compute
    import pyarrow.parquet
    import pyarrow.types

    pa = pyarrow
    pc = pyarrow.compute
    pd = pandas
    pl = polars
    pq = pyarrow.parquet
    pt = pyarrow.types
else:
    pa = _OnDemand("pyarrow")
    pc = _OnDemand("pyarrow.compute")
    pd = _OnDemand("pandas")
    pl = _OnDemand("polars")
    pq = _OnDemand("pyarrow.parquet")
    pt = _OnDemand("pyarrow.types")
