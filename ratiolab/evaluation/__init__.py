"""Policies on a log under a clock: how far each is from any schedule, and what to deploy."""
