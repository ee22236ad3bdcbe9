"""Results as documents: protected figures, self-contained HTML, JSON, static plots."""

from sdckit.report.formats.write import plain_document, write_json, write_report
from sdckit.report.notebook import assessment_chart, map_html, notebook_html, recipe_html, result_chart

__all__ = [
    "assessment_chart", "map_html", "notebook_html", "plain_document",
    "recipe_html", "result_chart", "write_json", "write_report",
]  # fmt: skip
