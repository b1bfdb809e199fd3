"""One file a wire protocol: what a simulated provider says, never when."""
