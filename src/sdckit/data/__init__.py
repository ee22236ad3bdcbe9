"""What comes in: frames, files, roles and scenarios, all checked at the door."""
