"""Steps of protection: checked, run, logged, tried in variations."""
