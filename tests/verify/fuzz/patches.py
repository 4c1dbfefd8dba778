"""What a planted bug is made of."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack

Patch = AbstractContextManager[object]


class both(ExitStack):
    """Several patches at once."""

    def __init__(self, *patches: Patch) -> None:
        super().__init__()
        self._patches = patches

    def __enter__(self) -> both:
        for each in self._patches:
            self.enter_context(each)
        return self
