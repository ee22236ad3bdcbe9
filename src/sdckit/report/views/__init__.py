"""One file per measure, named after it: its figures before the gate, its tables, chart and words after it."""
