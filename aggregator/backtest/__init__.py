"""Synthetic histories, and rules played over histories. Pure but for the seed that is given."""
