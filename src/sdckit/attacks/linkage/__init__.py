"""Records linked in spite of slips."""
