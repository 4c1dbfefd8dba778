"""The promises of a group, checked on the trace records of a finished run: of any host, of any length.

The clocks of live sites tell nothing about who was first, so no check compares times of two sites. What a check needs
is each life's own order (`index`), and that is all: records of different lives may come in any order. One pass; what is
kept is some bytes for each message and each delivery that is not settled yet.
"""
