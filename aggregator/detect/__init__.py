"""The rule that judges: values in, values out. No clock, no store."""
