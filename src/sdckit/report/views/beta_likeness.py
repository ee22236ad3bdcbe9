"""β-likeness in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view("beta_likeness", "β", kinds={"basic": "basic β-likeness", "enhanced": "enhanced β-likeness"})
