"""Ordering protocols: from a reliable FIFO multicast to one total order."""
