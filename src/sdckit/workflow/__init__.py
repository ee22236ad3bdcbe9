"""What strings the rooms together: the main job and the release gate."""
