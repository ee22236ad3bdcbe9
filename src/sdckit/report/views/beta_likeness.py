"""β-likeness in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view(
    "β-likeness",
    "β",
    "How much more likely a value becomes, relative to its share in the file, once the group is known.",
    "Cao & Karras (2012)",
    kinds={"basic": "basic β-likeness", "enhanced": "enhanced β-likeness"},
)
