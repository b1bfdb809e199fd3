"""Tells people of incidents: what is due, what it says, and that it arrives once."""
