"""A wide area network on one machine: network namespaces joined by a switch that delays, loses and cuts.

The switch is one process in user space that reads the frames of one TAP device in each namespace and writes them to
the others at their time; it needs nothing of the kernel but TAP devices and namespaces. docs/wan.md tells how to use
it, by hand (`python -m tools.wan`) or from Python (`tools.wan.emulation.Wan`).
"""
