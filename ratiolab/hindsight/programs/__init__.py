"""Programs and their solvers: the only room that opens a solver's door."""
