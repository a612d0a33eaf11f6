"""Search through time, layer by layer, guided by duals."""
