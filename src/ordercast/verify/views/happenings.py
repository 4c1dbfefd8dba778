"""What the judge of a live group hears of, beside what a group tells its participants."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.deliveries import Delivery, Entered
from ordercast.core.messages import Bundle


class Given(Struct, frozen=True):
    """A participant multicasts a bundle."""

    bundle: Bundle


class Crashed(Struct, frozen=True):
    """The site is down."""


class Revived(Struct, frozen=True):
    """The site is up, in this life."""

    life: int


class Broke(Struct, frozen=True):
    """An assertion of the site's own code has failed, or worse."""

    error: str


Happening = Given | Crashed | Revived | Broke | Delivery | Entered
