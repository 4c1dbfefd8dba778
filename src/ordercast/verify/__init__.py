"""Is what was delivered what was promised? Properties over traces, and the explorer that looks for counter-examples."""
