"""Fleets in simulation: the loop over replicas, and the registry of routers."""
