"""The promises of a group with views, positions and levels, checked while a run goes on."""
