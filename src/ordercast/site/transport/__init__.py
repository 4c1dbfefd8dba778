"""Frames between sites: TCP with TLS, an emulated wide area network, or a network in memory for tests."""
