"""Crashes of the ordered log, as the disk sees them: every write and sync of the files is recorded, the files are made
again of what was synced and of arbitrary parts of the rest, and the log is opened on them."""
