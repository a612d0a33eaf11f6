"""The hindsight optimum of several replicas."""
