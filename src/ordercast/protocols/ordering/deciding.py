"""A site's decisions on its own role in the dynamic hybrid protocol (hybrid report, sections 6.4 to 7).

These are handlers of `dynamic_hybrid`; `local` is that layer, whose state they read and change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ordercast.core.effects import Out
from ordercast.core.events import Now
from ordercast.protocols.ordering.configuration import Going, Probe

if TYPE_CHECKING:
    from ordercast.protocols.ordering.dynamic_hybrid import DynamicHybrid


def consider(local: DynamicHybrid, now: Now, out: Out) -> None:
    """Change role or sequencer if this site's policy advises it."""
    if local.issuer.clock.wants_probe(now.monotonic_us):
        out.multicast(Probe(now.monotonic_us))
    if local.phase not in ("active", "passive") or now.monotonic_us < local.settled_us + local.tenure_us:
        return
    actives = local.configuration.actives
    sequencer = local.me if local.is_active else local.sequencer.site
    advice = local.observations.advise(local.estimates, actives, sequencer, now)
    if advice.active != local.is_active:
        if advice.active or not local.must_stay:
            go(local, advice.active, advice.why, now, out)
    elif not local.is_active and advice.sequencer in actives and advice.sequencer != sequencer:
        local.note(f"sequencer {advice.sequencer}", advice.why, out)
        local.desired, local.phase = advice.sequencer, "changing-sequencer"
        if not local.undelivered:
            change_sequencer(local, now, out)


def go(local: DynamicHybrid, active: bool, why: str, now: Now, out: Out) -> None:
    """Sections 6.5 and 6.6: multicast the switch, in the present role."""
    local.note("to active" if active else "to passive", why, out)
    local.send(Going(local.me, local.attempts, active), now, out)
    local.attempts += 1
    local.phase = "to-active" if active else "to-passive"


def change_sequencer(local: DynamicHybrid, now: Now, out: Out) -> None:
    """Section 6.4: all that the old one was to order is delivered, so FIFO order is safe."""
    is_active = local.desired in local.configuration.actives
    local.be_passive(local.configuration.descriptor(local.desired) if is_active else local.closest_active(), now, out)
