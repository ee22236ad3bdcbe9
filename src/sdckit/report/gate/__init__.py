"""The one door out of the room: what may be printed of exact figures."""
