"""The command line: one command, and a module for each of its subcommands."""
