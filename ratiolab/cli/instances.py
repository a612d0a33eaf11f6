"""Commands that make instances."""
