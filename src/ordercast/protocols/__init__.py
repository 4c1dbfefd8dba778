"""The protocols, one file each: sans-IO and deterministic.

Nothing below this package may import a clock, a socket, a thread or a source of randomness, nor iterate a set.
"""
