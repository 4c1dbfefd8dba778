"""Tests of the records room."""
