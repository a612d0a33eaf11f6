"""One file for each family of policies."""
