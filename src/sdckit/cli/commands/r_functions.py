"""``sdckit r-functions``: where the functions for R stand."""

from pathlib import Path

from sdckit.cli.errors import tell

FILE = Path(__file__).with_name("sdckit.R")


def r_functions() -> None:
    """Print where the functions for R stand, for source(system2("sdckit", "r-functions", stdout = TRUE))."""
    tell(str(FILE))
