"""Benchmark of the clock: how exact timings are."""
