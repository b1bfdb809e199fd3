"""Benchmarks of the centre."""
