"""Experiments: Experiments of this project."""
