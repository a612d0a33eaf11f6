"""Claims of Gogineni, Paul, Stec, Zhang (2024)."""
