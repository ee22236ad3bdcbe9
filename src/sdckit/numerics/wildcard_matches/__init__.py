"""Keys with missing values matched."""
