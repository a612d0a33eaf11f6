"""Linear and integer programs, and the only modules that import a solver."""
