"""One participant: what it asks for, from its greeting to its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, assert_never

from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.events import FromAbove
from ordercast.core.messages import Author, Level
from ordercast.core.participants import Attach, Detach, JoinGroup, LeaveGroup, Member, Speak
from ordercast.core.service import (
    BUNDLE_BODIES_MAX,
    EARLIEST,
    LATEST,
    MESSAGE_BYTES_MAX,
    NAME_CHARACTERS_MAX,
    VERSION,
    Ask,
    Consumed,
    Entered,
    Hello,
    Join,
    Joined,
    Leave,
    Left,
    NotDone,
    NotJoined,
    Pace,
    Refused,
    Request,
    Submit,
    Unask,
    Welcome,
)
from ordercast.core.wire import BadBytes
from ordercast.site.gateway.port import Port
from ordercast.site.gateway.receipts import Awaited
from ordercast.site.gateway.run import Run
from ordercast.site.gateway.subscription import Subscription

if TYPE_CHECKING:
    from ordercast.site.gateway.gateway import Gateway


OVER_PACE_BYTES = 4 << 20
"""So much may still come from a participant that has been told to wait: it was under way."""

NO_ROOM = "too many messages of this session have not come up: multicast them again first, or connect anew"


class Connection:
    """Handles the requests of one participant; a request that no client makes is `BadBytes`."""

    def __init__(self, gateway: Gateway, port: Port) -> None:
        self.name = ""
        self.session: int | None = None
        """None before the greeting, and after the end."""
        self._gateway = gateway
        self._port = port
        self._subscriptions: dict[str, Subscription] = {}
        self._joining: dict[str, Join] = {}
        """Groups whose joining has not come up yet."""
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._over_pace = 0
        """So much has come although there was no room."""
        self._run: Run | None = None
        """Taken, and not multicast yet."""

    def handle(self, request: Request) -> None:
        """The next thing the participant wants, and nothing behind it for now."""
        self.take(request)
        self.flush()

    def take(self, request: Request) -> None:
        """The next thing the participant wants. If it is a multicast, it may wait for `flush`: see `run`."""
        if self.session is None:
            self._greet(request)
            return
        if not isinstance(request, Submit | Consumed):
            self.flush()
        match request:
            case Submit():
                self._submit(self.session, request)
            case Consumed(group=group, weight=weight):
                subscription = self._subscriptions.get(group)
                if subscription is not None:
                    subscription.consumed(weight)
            case Join():
                self._join(self.session, request)
            case Leave():
                self._leave(self.session, request)
            case Ask():
                self._gateway.questions.ask(request, self._port, self._gateway.groups)
            case Unask(request=number):
                self._gateway.questions.unask(number, self._port)
            case Hello():
                raise BadBytes("a second greeting")
            case _:
                assert_never(request)

    def _greet(self, request: Request) -> None:
        if not isinstance(request, Hello):
            raise BadBytes("no greeting")
        if request.version != VERSION:
            self._port.tell(Refused(f"version {request.version} of the client, expected {VERSION}: install the same"))
            self._port.close()
            return
        _require_name(request.name)
        gateway = self._gateway
        if gateway.closed is not None:
            self._port.tell(Refused(gateway.closed))
            self._port.close()
            return
        earlier = gateway.connections.get(request.session)
        if earlier is not None:
            earlier.close("the same session has called again")
        self.name, self.session = request.name, request.session
        gateway.connections[request.session] = self
        site = gateway.site
        site.handle(FromAbove(Attach(request.session, request.name)))
        self._port.tell(Welcome(VERSION, site.cluster, gateway.name_of(site.me), site.incarnation))
        if gateway.pressure.is_high:
            self.hold(True)

    # --- multicast ---

    def _submit(self, session: int, submit: Submit) -> None:
        if not self._takes_part(submit.group):
            self._port.tell(NotDone(submit.request, f"{submit.group}: join the group first"))
            return
        if not 0 < len(submit.bodies) <= BUNDLE_BODIES_MAX or submit.number < 0:
            raise BadBytes(f"a bundle of {len(submit.bodies)} messages from number {submit.number}")
        weight = sum(map(len, submit.bodies))
        self._hold_back(weight)
        if weight > MESSAGE_BYTES_MAX:
            raise BadBytes(f"a bundle of {weight} bytes, more than {MESSAGE_BYTES_MAX}")
        author = Author(submit.group, self.name, session if submit.session is None else submit.session, submit.number)
        gateway = self._gateway
        if submit.level >= Level.AGREED and not gateway.site.has_room(author):
            self._port.tell(NotDone(submit.request, NO_ROOM))
            return
        if self._run is None or not self._run.goes_on_with(author, submit, weight):
            self.flush()
            self._run = Run(author, submit.level)
        self._run.add(submit.bodies, Awaited(submit.request, self._port, submit.wait, weight, len(submit.bodies)))

    def flush(self) -> None:
        """Nothing more has come for now: multicast what has."""
        run, self._run = self._run, None
        if run is not None:
            self._gateway.receipts.expect(run.author, run.level, run.awaited)
            self._gateway.site.handle(FromAbove(Speak(tuple(run.bodies), run.level, run.author)))

    def _hold_back(self, weight: int) -> None:
        """Somebody who does not keep to the pace is not read until there is room."""
        if self._gateway.pressure.is_high:
            self._over_pace += weight
            if self._over_pace > OVER_PACE_BYTES:
                self._port.pause()

    def _takes_part(self, group: str) -> bool:
        subscription, joining = self._subscriptions.get(group), self._joining.get(group)
        return (subscription is not None and subscription.member) or (joining is not None and joining.member)

    # --- groups ---

    def _join(self, session: int, join: Join) -> None:
        if join.group in self._subscriptions or join.group in self._joining:
            self._port.tell(NotJoined(join.group, f"{join.group}: this participant has joined it already"))
            return
        _require_name(join.group)
        if join.start < LATEST or join.window_bytes <= 0:
            raise BadBytes(f"a start at {join.start} with a window of {join.window_bytes} bytes")
        self._joining[join.group] = join
        task = asyncio.get_running_loop().create_task(self._begin(session, join))
        self._tasks[join.group] = task
        task.add_done_callback(lambda done: self._on_task_done(join.group, done))

    async def _begin(self, session: int, join: Join) -> None:
        """Read, and take part; a member that reads from now on does so once its joining has come up."""
        gateway = self._gateway
        subscription = None
        if join.start != LATEST or not join.member:
            start = await self._start(join)
            if start is None:
                return
            subscription = self._subscribe(join, start, join.seen == gateway.history)
        if join.member:
            gateway.site.handle(FromAbove(JoinGroup(session, join.group, join.number)))
        else:
            del self._joining[join.group]
        if subscription is not None:
            await gateway.catch_up.run(subscription)

    async def _start(self, join: Join) -> int | None:
        """Where the stream begins, if it can be read from there; else the participant is told."""
        gateway = self._gateway
        if join.start == LATEST:
            return gateway.recent.end
        history = None
        while history != gateway.history:  # something may be taken back while the log is being looked at
            history = gateway.history
            ahead = join.seen is not None and join.seen != history
            wanted = max(0, min(join.start, join.final_below) if ahead else join.start)
            try:
                first = await gateway.catch_up.first(wanted)
            except (NotFit, WrongUse) as error:
                self._refuse(join, str(error), None)
                return None
        if first > wanted and join.start != EARLIEST:
            reason = f"{join.group}: position {wanted} cannot be read here any more, the first that can is {first}"
            self._refuse(join, reason, first)
            return None
        return first

    def _refuse(self, join: Join, reason: str, first: int | None) -> None:
        del self._joining[join.group]
        self._port.tell(NotJoined(join.group, reason, first))

    def _subscribe(self, join: Join, start: int, resumed: bool) -> Subscription:
        gateway = self._gateway
        subscription = Subscription(join, self._port, start)
        self._subscriptions[join.group] = subscription
        gateway.feed(join.group).add(subscription)
        self._port.tell(Joined(join.group, start, gateway.history, resumed))
        return subscription

    def on_members(self, group: str, members: tuple[Member, ...]) -> None:
        """A group has these members now: this participant may be among them."""
        join = self._joining.get(group)
        site = self._gateway.site
        if join is None or not join.member:
            return
        if not any(
            each.session == self.session and (each.site, each.incarnation) == (site.me, site.incarnation)
            for each in members
        ):
            return
        del self._joining[group]
        if group not in self._subscriptions:
            feed = self._gateway.feed(group)
            assert feed.view is not None, "it has members"
            self._gateway.go_live(self._subscribe(join, feed.view.view, False))
        self._port.tell(Entered(group))

    def _leave(self, session: int, leave: Leave) -> None:
        if self._takes_part(leave.group):
            self._gateway.site.handle(FromAbove(LeaveGroup(session, leave.group, leave.number)))
        self._joining.pop(leave.group, None)
        self._stop_reading(leave.group)
        self._port.tell(Left(leave.group))

    def _stop_reading(self, group: str) -> None:
        task = self._tasks.pop(group, None)
        if task is not None:
            task.cancel()
        subscription = self._subscriptions.pop(group, None)
        if subscription is not None:
            subscription.ended = True
            feed = self._gateway.feed(group)
            feed.remove(subscription)
            self._gateway.tidy(feed)

    def _on_task_done(self, group: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(group) is task:
            del self._tasks[group]
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    # --- the end ---

    def hold(self, hold: bool) -> None:
        self._port.tell(Pace(hold))
        if not hold:
            self._over_pace = 0
            self._port.resume()

    def close(self, reason: str) -> None:
        self._port.tell(Refused(reason))
        self.end()
        self._port.close()

    def end(self) -> None:
        """The connection is gone: its participant is no member any more, and nothing waits for it."""
        self.flush()
        session, self.session = self.session, None
        if session is None:
            return
        gateway = self._gateway
        for group in {**self._subscriptions, **self._tasks}:
            self._stop_reading(group)
        self._joining.clear()
        gateway.receipts.forget(self._port)
        gateway.questions.forget(self._port)
        del gateway.connections[session]
        gateway.site.handle(FromAbove(Detach(session)))


def _require_name(name: str) -> None:
    if not 0 < len(name) <= NAME_CHARACTERS_MAX or not name.isprintable():
        raise BadBytes(f"a name of {len(name)} characters that cannot be printed, or is too long")
