"""What a release itself gives back of the values that were protected in it."""
