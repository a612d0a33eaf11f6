"""What proves a bound, and checkers that share nothing with what finds it."""
