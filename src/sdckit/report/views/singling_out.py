"""View of the singling-out attack."""

from __future__ import annotations

from sdckit.report.rates import rate_view
from sdckit.report.view import Plain

MODES = {"univariate": " by one column", "multivariate": " by several columns"}


def _options_words(options: Plain, mode: str) -> str:
    several = options["columns_at_once"] if mode == "multivariate" else None
    return "" if several is None else f"queries of {several} columns"


VIEW = rate_view(lambda mode: (f"Singling out{MODES.get(mode, '')}", ""), dependent=True, options_words=_options_words)
