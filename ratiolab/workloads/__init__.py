"""Where instances come from: synthetic models, predictions, traces."""
