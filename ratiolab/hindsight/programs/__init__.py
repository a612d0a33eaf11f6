"""Programs and their solvers; nothing else in the package opens a solver's door."""
