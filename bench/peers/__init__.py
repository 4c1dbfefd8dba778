"""Other systems that order messages, under the same load as ours: Corosync and PySyncObj."""
