"""Records that a few keys already single out, and combinations that are rare."""
