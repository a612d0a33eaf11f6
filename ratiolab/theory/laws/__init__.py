"""Laws of output lengths, and of what predictors say of them."""
