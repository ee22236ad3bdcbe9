"""Inference by models: predicting a person's confidential value from the release."""
