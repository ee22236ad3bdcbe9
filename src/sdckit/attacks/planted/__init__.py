"""Records of nobody, planted before a release is made."""
