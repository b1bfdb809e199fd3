"""Reads the one file, `pacewatch.toml`, and the catalog into a Fleet; refuses in words."""
