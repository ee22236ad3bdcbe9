"""What a release gives back beside tables that were published of the same people."""
