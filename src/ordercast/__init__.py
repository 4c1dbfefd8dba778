"""One agreed order of messages for a group of processes spread over LANs and slow links."""

__version__ = "0.1.0"
