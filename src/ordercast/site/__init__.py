"""The daemon: one site of a group on real sockets, a real clock and a real disk."""
