"""δ-disclosure in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view(
    "δ-disclosure",
    "δ",
    "The largest change of a value's log-share between the file and a group; infinite where it is ruled out.",
    "Brickell & Shmatikov (2008)",
    kinds={"delta_present": "δ-disclosure over the values present"},
)
