"""Distance of the sensitive distribution in an equivalence class from that in the file."""
