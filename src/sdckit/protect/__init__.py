"""Change the data, and say what was changed."""
