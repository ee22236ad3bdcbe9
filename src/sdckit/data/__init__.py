"""What comes in: frames, files, roles and scenarios, all checked at the door."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any


class _OnDemand(ModuleType):
    """An engine's module that is loaded when a name of it is first used: none comes with `import sdckit`."""

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
