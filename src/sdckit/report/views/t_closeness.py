"""t-closeness in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view(
    "t-closeness",
    "t",
    "How far the values of a group lie from those of the file: the least share of records that would "
    "have to change, weighed by how far where the values are numbers.",
    "Li, Li & Venkatasubramanian (2007)",
)
