"""What a model trained on the release tells of a person."""
