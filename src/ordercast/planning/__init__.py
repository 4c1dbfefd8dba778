"""What is known or measured about the network and the load, and what follows from it."""
