"""Trials of real daemons on this machine: faults at random, kills one after the other, changes of ordering under load.

Participants multicast without a pause and write down what they asked for and what they saw; in the end everything is
healed, and that is judged together with what the sites have recorded and what their logs hold on disk.
"""
