"""One file a wire protocol: what a chunk is, never when it came."""
