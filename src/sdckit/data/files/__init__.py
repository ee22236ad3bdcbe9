"""Files read and written: text, columns, labels."""
