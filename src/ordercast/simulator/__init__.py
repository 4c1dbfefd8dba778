"""The simulator: virtual time, one chooser, one network. It runs the layers that ship."""
