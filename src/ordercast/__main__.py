"""`python -m ordercast` is the command `ordercast`."""

from __future__ import annotations

from ordercast.cli.main import main

main(prog_name="ordercast")
