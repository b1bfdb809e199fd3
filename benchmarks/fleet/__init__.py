"""The size that people really run: what a whole fleet takes of memory and processors."""
