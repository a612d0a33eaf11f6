"""Runs to caps at a learned pace: what `volume-restart` and `learned-caps` share."""
