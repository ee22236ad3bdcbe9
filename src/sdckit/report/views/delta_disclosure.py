"""δ-disclosure in a document."""

from sdckit.report.closeness_blocks import limits_view

VIEW = limits_view("delta_disclosure", "δ", kinds={"delta_present": "δ-disclosure over the values present"})
