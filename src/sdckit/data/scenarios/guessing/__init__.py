"""Evidence on the role of a column: its name, label and values, and its relations to other columns."""
