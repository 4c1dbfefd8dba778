"""Live groups in the explorer: changes of view, crashes and new lives, in every order."""
