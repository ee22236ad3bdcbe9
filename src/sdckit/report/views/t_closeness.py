"""t-closeness in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view("t_closeness", "t")
