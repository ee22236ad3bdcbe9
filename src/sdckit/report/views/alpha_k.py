"""(α, k)-anonymity in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view("alpha_k", "α")
