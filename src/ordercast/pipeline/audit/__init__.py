"""The audit on Spark: the same verdicts as `verify.audit`, on traces of any size.

Most of a trace has nothing to say: sites deliver the same messages at the same positions, one after the other. So the
positions are cut into blocks. Digests of each block, made in one pass, and one further pass for each promise tell the
*suspects*: the blocks, and single messages, in which a promise may be broken. All other blocks are *quiet*. What is
read again are the suspects and the few records that are no messages (views, what is final, crashes); these are shown to
the very checks of `verify.audit`, and where a life goes through a quiet block they are told so in one step.

A file for each promise says what makes a block or a message a suspect. A suspect may well be innocent: the checks
judge. That none is missing is what the comparison with the plain audit tests.
"""
