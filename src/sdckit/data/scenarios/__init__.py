"""Who could know what, and which limits hold."""
