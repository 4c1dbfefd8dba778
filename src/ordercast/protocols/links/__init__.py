"""Links: from a network that loses, doubles and reorders to the channels the layers above assume."""
