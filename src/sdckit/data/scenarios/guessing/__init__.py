"""Evidence on what a column is: names, labels, values, and how columns hang together."""
