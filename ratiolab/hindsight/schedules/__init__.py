"""Good schedules, fast: rules, searches over orders, and moves on thousands of requests."""
