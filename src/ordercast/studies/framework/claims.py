"""Claims: what a paper says or a study expects, as a predicate over the results, and what became of it."""

from __future__ import annotations

import enum
from collections.abc import Callable

from msgspec import Struct

from ordercast.studies.framework.results import Results


class Verdict(enum.StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs, because"
    MISSED = "not reproduced"


class Outcome(Struct, frozen=True):
    """A verdict, and the figures behind it."""

    verdict: Verdict
    measured: str
    because: str = ""
    """Why the results differ from the claim; given exactly when the verdict is `DIFFERS`."""


class Claim(Struct, frozen=True):
    """One sentence that the results bear out or do not."""

    text: str
    source: str
    """Where it is said: a paper's section, or that it is an expectation of ours."""
    check: Callable[[Results], Outcome]
    published: str = ""
    """What the papers' figure or text has to be held against; empty where they have nothing."""


def outcome(holds: bool, measured: str, *, explained: bool = False, because: str = "") -> Outcome:
    """A verdict. A difference counts as understood only if `explained`: the explanation is a predicate, too."""
    if holds:
        return Outcome(Verdict.REPRODUCED, measured)
    if explained:
        assert because, "an explained difference needs its explanation"
        return Outcome(Verdict.DIFFERS, measured, because)
    return Outcome(Verdict.MISSED, measured)


def every_run_is_correct(results: Results) -> Outcome:
    """No run may violate what is promised, or stall. Every study claims so."""
    bad = [entry for entry in results.entries if not entry.result.good]
    if not bad:
        return outcome(bool(results.entries), f"{len(results.entries)} runs, all correct")
    labels, result, _ = bad[0]
    name = ", ".join(f"{label} {value}" for label, value in labels.items())
    if result.violations:
        what = result.violations[0]
    else:
        assert result.stalled is not None
        what = f"stalled: {result.stalled.site} waits for {result.stalled.waiting_for}"
    return outcome(False, f"{len(bad)} of {len(results.entries)} runs are not; the first ({name}): {what}")


CORRECT = Claim(
    "Every run delivers one total order that extends the causal order, loses nothing and does not stall.",
    "checked on every run",
    every_run_is_correct,
)
