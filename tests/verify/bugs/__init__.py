"""Protocols with a bug planted, to see that each property finds what it is there for."""
