"""What a frame holds besides its records, taken out before it is handed over."""
