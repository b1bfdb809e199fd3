"""Simulated providers: real sockets, real wire protocols, exact pacing, faults on request."""
