"""Who may speak for a site: a small certificate authority for each cluster, and TLS contexts made from its files."""
