"""The pages of the app, one file each: what stands on it, and what its buttons do."""
