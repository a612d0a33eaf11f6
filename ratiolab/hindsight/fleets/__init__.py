"""The hindsight optimum of several equal replicas."""
