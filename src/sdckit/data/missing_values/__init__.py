"""Which values are missing, and what that means."""
