"""Tables, pictures and plain data of results."""
