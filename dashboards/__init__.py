"""Grafana dashboards, built from the metric table."""
