"""What the demonstration shows while it runs: a table on a terminal, a line now and then in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from tools.demo.measures import Measures
from tools.demo.plan import LOAD_S, PHASES, SITES, phase_at

RECENT_S = 3.0
LINE_EVERY_S = 9.0


class Screen:
    """Shows one moment after the other."""

    def __init__(self, measures: Measures, states: Callable[[], dict[str, str]]) -> None:
        """`states` says in a word or two how each site is."""
        self.console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
        self._measures = measures
        self._states = states
        self._live = Live(console=self.console, refresh_per_second=4, transient=True)
        self._line_due_s = 0.0

    def say(self, text: str) -> None:
        """A line that stays."""
        self.console.print(text)

    def __enter__(self) -> Screen:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def show(self, now_s: float) -> None:
        """This moment of the load."""
        phase = PHASES[phase_at(now_s)]
        title = f"{now_s:4.0f} of {LOAD_S:.0f} s: {phase.title}"
        if self.console.is_terminal:
            self._live.update(self._table(title, now_s))
        elif now_s >= self._line_due_s:
            self._line_due_s = now_s + LINE_EVERY_S
            rows = (f"{name} {state}, {last} ms" for name, state, _, _, last in self._rows(now_s))
            self.console.print(f"{title}; {'; '.join(rows)}")

    def _table(self, title: str, now_s: float) -> Table:
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        table.add_column("site")
        table.add_column("state")
        for column in ("multicasts/s", "deliveries/s", "delivered everywhere after, ms"):
            table.add_column(column, justify="right")
        for row in self._rows(now_s):
            table.add_row(*row)
        return table

    def _rows(self, now_s: float) -> list[tuple[str, str, str, str, str]]:
        states, rows = self._states(), []
        recent = [sent for sent in self._measures.sent.values() if sent.at_s > now_s - RECENT_S]
        for name in SITES:
            mine = [sent for sent in recent if sent.site == name]
            delivered = sum(name in sent.delivered_s for sent in recent)
            complete = sorted(
                max(sent.delivered_s.values()) - sent.at_s for sent in mine if len(sent.delivered_s) == len(SITES)
            )
            last = f"{complete[len(complete) // 2] * 1000:.0f}" if complete else "-"
            rows.append((name, states[name], f"{len(mine) / RECENT_S:.0f}", f"{delivered / RECENT_S:.0f}", last))
        return rows
