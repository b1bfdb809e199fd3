"""Reads providers/*.toml into Endpoints."""
