"""Routers, a file each."""
