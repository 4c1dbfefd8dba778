"""What participants are promised: levels, positions, finality, and how a site comes to the whole order."""
