"""View of robust interval disclosure: intervals widen with a record's distance from the others."""

from sdckit.report import shares

VIEW = shares.share_view("robust_interval_risk", shares.MATCHING, "Numbers close to the original, outliers apart")
