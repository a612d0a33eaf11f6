"""Duals in place of rows: the Lagrangian bound, and bounds for thousands of requests."""
