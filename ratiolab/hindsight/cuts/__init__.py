"""The time-indexed program with configuration cuts: bounds, and a smaller integer program."""
