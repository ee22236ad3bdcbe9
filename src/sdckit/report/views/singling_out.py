"""View of the singling-out attack."""

from sdckit.attacks.attack_rates import EVERY
from sdckit.report.rates import rate_view
from sdckit.report.view import Plain

AT_ONCE = 3  # columns of a query, where there are so many
MODES = {"univariate": " by one column", "multivariate": " by several columns"}


def _options_words(options: Plain, mode: str) -> str:
    several = options["columns_at_once"] if mode == "multivariate" else None
    if mode == f"multivariate:{EVERY}":
        several = min(AT_ONCE, len(options["every_column"]))
    return "" if several is None else f"queries of {several} columns"


VIEW = rate_view(lambda mode: (f"Singling out{MODES.get(mode, '')}", ""), dependent=True, options_words=_options_words)
