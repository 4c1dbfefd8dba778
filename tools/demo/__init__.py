"""The main job from end to end: a real group on this machine, changing load, a killed site, an audit, a report."""
