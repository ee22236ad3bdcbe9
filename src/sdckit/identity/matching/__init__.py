"""Released records matched back to the people they were made from."""
