"""Released records near to real ones."""
