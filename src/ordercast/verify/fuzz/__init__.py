"""The fuzzer: random groups under random faults, checked throughout, and then made to converge."""
