"""Certificates of bounds, and checkers that share nothing with the solver."""
