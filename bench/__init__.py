"""Benchmarks: how fast and how large things are. They judge nothing and no test depends on their figures."""
