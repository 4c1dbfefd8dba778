"""What the studies share: running a grid, judging claims, writing tables, pictures and the report."""
