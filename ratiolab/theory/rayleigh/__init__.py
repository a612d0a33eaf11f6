"""The fluid quotient of A_min: its matrices, spectrum, growth and closed forms."""
