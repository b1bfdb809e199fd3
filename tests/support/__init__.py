"""What the suites share: real servers, builders of values."""
