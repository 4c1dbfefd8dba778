"""Tests of the ordered log on disk."""
