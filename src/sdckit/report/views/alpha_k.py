"""(α, k)-anonymity in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view(
    "(α, k)-anonymity", "α", "The largest share that one value has in a group.", "Wong, Li, Fu & Wang (2006)"
)
