"""What a member must not forget."""

from __future__ import annotations

from msgspec import Struct

from ordercast.core.views import View
from ordercast.protocols.membership.messages import NO_BALLOT, Ballot, Successor


class Acceptor(Struct):
    """What must survive a crash: the view, and this member's part in agreeing on the next."""

    view: View
    aligned: bool
    """Whether this site's log has no hole up to this view."""
    came_by: Successor | None = None
    """How the view came about, for members that have not heard; None in the view that a group starts from."""
    promised: Ballot = NO_BALLOT
    accepted: tuple[Ballot, Successor] | None = None
    whole: bool = False
    """Whether the log held the whole order up to the accepted successor when it was accepted."""
