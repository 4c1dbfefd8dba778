"""Detectors: the mean of a quantity that stays level for a while and then shifts, such as the gap between messages.

Two things pull against each other. Gaps of a Poisson source spread as wide as their mean, and a detector must not
read shifts into that noise: a mean that is wrong for a few messages throws a ticket clock far off. But when a site
falls from a hundred messages a second to one, or rises again, that should be seen within a few samples. Gaps of
other sources hardly vary at all. `./dev bench detectors` measures all four on both; docs/findings.md says what each
costs in latency. None of them knows the kind of source beforehand.
"""
