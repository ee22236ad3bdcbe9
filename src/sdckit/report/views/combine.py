"""View of estimates combined over several releases."""

from typing import Any

from sdckit.data.frames import rows_of
from sdckit.report.estimates import USEFULNESS, UtilityView, forest_blocks, forest_row
from sdckit.report.gate.figures import Tree
from sdckit.report.setting import PairSetting


def tree(result: Any, setting: PairSetting) -> dict[str, Tree]:
    """Enter the estimates and their intervals, printed to two digits."""
    rows = (
        forest_row(setting, str(number), row, term=str(row["quantity"]), file="together")
        for number, row in enumerate(rows_of(result.table))
    )
    return {"forest": tuple(rows)}


VIEW = UtilityView(USEFULNESS, tree, lambda plain, place: forest_blocks(plain[place]["forest"], "the files together"))
