"""A small scenario as text, and how tests spoil it."""

from __future__ import annotations

SMALL = """\
seed = 1
duration_s = 4
warmup_s = 1

[protocol]
name = "hybrid"
estimates = "known"
options = { active = ["A", "C"] }

[[lan]]
name = "west"
sites = ["A", "B"]
delay_ms = 20
variance = 0.05

[[lan]]
name = "east"
sites = ["C"]
delay_ms = 20
variance = 0.05

[[wan]]
between = ["west", "east"]
delay_ms = 100

[[traffic]]
sites = ["A", "C"]
rate = 50

[[traffic]]
sites = ["B"]
rate = 5
from_s = 1
until_s = 3
"""

MATRIX = """\
[protocol]
name = "token-site"
options = { site = "B" }

[delays]
sites = ["A", "B"]
one_way_ms = [[0, 10], [12, 0]]
variance = 0.1

[[traffic]]
sites = ["A"]
rate = 10
"""


def changed(text: str, old: str, new: str) -> str:
    """The text with one place changed; that place must be there once."""
    assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
    return text.replace(old, new)


def with_fault(fault: str) -> str:
    """The small scenario with one more fault."""
    return f"{SMALL}\n[[fault]]\n{fault}\n"
