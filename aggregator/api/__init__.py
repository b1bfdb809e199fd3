"""The HTTP side of the centre: ingest, JSON API, board, metrics."""
