"""What the judging rule does, measured on synthetic histories: `python -m benchmarks.judging`."""
