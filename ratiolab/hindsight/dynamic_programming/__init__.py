"""Dynamic programming over rounds, guided by duals."""
