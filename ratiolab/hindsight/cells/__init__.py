"""The optimum at any memory size: a dynamic program over cells of rounds, from coarse to fine."""
