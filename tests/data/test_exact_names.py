from __future__ import annotations

import polars as pl
import pytest

from sdckit.data.exact_names import exactly, is_pattern


@pytest.mark.parametrize("name", ["*", "^a.*$", "^$", "a", "", "^a", "a$", "a*"])
@pytest.mark.parametrize("lazy", [True, False])
def test_one_column_and_this_one(name: str, lazy: bool) -> None:
    frame = pl.DataFrame(
        {one: [i] for i, one in enumerate(["ab", "age", "*", "^a.*$", "^$", "a", "", "^a", "a$", "a*"])}
    )
    asked = (frame.lazy() if lazy else frame).select(exactly(name).cast(pl.Int8).max().alias("it"))
    found = asked.collect() if isinstance(asked, pl.LazyFrame) else asked
    assert found["it"].to_list() == frame.get_column(name).to_list()
    assert is_pattern(name) == (name in {"*", "^a.*$", "^$"})
