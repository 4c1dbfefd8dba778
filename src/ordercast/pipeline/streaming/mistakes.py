"""What a worker says when it cannot go on, out of the many lines in which Spark passes it on."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ordercast.core.errors import NotFit, WrongUse

SAID = re.compile(r"^(?:\w+\.)*ordercast\.[\w.]+\.(\w+): (.+)$", re.MULTILINE)

KINDS: dict[str, type[Exception]] = {
    "WrongUse": WrongUse,
    "Retained": WrongUse,
    "Hole": WrongUse,
    "NotFit": NotFit,
    "BadSegment": NotFit,
}


@contextmanager
def in_one_line() -> Iterator[None]:
    """Errors of ours that come back through Spark are again what they were; all others stay as they are."""
    from pyspark.errors import PySparkException

    calls = logging.getLogger("py4j.clientserver")
    was, calls.disabled = calls.disabled, True  # it would tell at length what is told here
    try:
        yield
    except PySparkException as error:
        ours = cause_of(str(error))
        if ours is None:
            raise
        raise ours from error
    finally:
        calls.disabled = was


def cause_of(text: str) -> Exception | None:
    """The error of ours that a traceback ends with."""
    for kind, message in reversed(SAID.findall(text)):
        if kind in KINDS:
            return KINDS[kind](message)
    return None
