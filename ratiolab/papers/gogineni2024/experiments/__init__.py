"""Experiments: Gogineni, Paul, Stec, Zhang (2024)."""
