"""Live groups on this machine, every site and every client a process of its own."""
