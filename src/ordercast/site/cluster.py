"""The cluster file: who the sites of a group are, and how the group orders. The same file serves every site."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, field

from ordercast.core.errors import WrongUse
from ordercast.core.ids import SITES_MAX, SiteId
from ordercast.core.mistakes import Mistake, join, require_distinct, require_number, shown, unknown
from ordercast.core.shape import shape
from ordercast.protocols.membership.suspector import PATIENCE_US
from ordercast.protocols.ordering.options import check_options, check_protocol_name
from ordercast.site.keys.names import is_label
from ordercast.site.transport.outgoing import Address

Fsync = Literal["always", "interval", "never"]


class SecurityTable(Struct, forbid_unknown_fields=True):
    """Where the certificates are, or that there are none."""

    keys: str | None = None
    tls: bool = True


class GroupTable(Struct, forbid_unknown_fields=True):
    """How the group orders."""

    ordering: str = "adaptive"
    resilience: int = 1
    partition: Literal["primary"] = "primary"
    tickets: Literal["flush", "piggyback"] = "flush"
    suspicion_ms: float = 1000.0
    """So much silence of a site says nothing: on a busy machine a daemon may not get to run for a while."""
    options: dict[str, Any] = {}


class LogTable(Struct, forbid_unknown_fields=True):
    """The ordered log on disk."""

    fsync: Fsync = "interval"
    interval_ms: float = 50.0
    segment_positions: int = 100_000
    retention_gib: float | None = None
    retention_hours: float | None = None


class PathsTable(Struct, forbid_unknown_fields=True):
    """Where a site keeps what it keeps; relative to the cluster file."""

    data: str = "data"
    sockets: str = "run"
    traces: str = "traces"


class SiteTable(Struct, forbid_unknown_fields=True):
    """One site."""

    name: str
    address: str
    facility: str = "default"
    metrics: str | None = None
    """Where its figures can be fetched, as host:port."""


class EmulateTable(Struct, forbid_unknown_fields=True):
    """A way that is slower, or less reliable, than it really is: for tests and demonstrations on one machine."""

    between: tuple[str, str]
    """Two sites or facilities; twice the same facility: its own sites."""
    delay_ms: float = 0.0
    jitter_ms: float = 0.0
    loss: float = 0.0


class TraceTable(Struct, forbid_unknown_fields=True):
    """The trace of what the sites do."""

    enabled: bool = False


class ClusterTables(Struct, forbid_unknown_fields=True):
    """The file as it stands."""

    cluster: str
    site: list[SiteTable]
    security: SecurityTable = field(default_factory=SecurityTable)
    group: GroupTable = field(default_factory=GroupTable)
    log: LogTable = field(default_factory=LogTable)
    paths: PathsTable = field(default_factory=PathsTable)
    trace: TraceTable = field(default_factory=TraceTable)
    emulate: list[EmulateTable] = []


class Cluster:
    """A cluster file that has been read and found in order."""

    def __init__(self, tables: ClusterTables, directory: Path) -> None:
        self.tables = tables
        self.name = tables.cluster
        self.group = tables.group
        self.log = tables.log
        self.trace = tables.trace.enabled
        self.directory = directory
        self.addresses = tuple(_address(site, index) for index, site in enumerate(tables.site))
        self.names = tuple(address.name for address in self.addresses)
        self.facilities = tuple(site.facility for site in tables.site)

    @property
    def sites(self) -> tuple[SiteId, ...]:
        """All sites, by their place in the file."""
        return tuple(SiteId(index) for index in range(len(self.names)))

    @property
    def keys(self) -> Path | None:
        """The directory of the certificates; None where sites trust each other's word."""
        security = self.tables.security
        return self.directory / security.keys if security.tls and security.keys is not None else None

    def site_id(self, name: str) -> SiteId:
        """The site of this name."""
        if name not in self.names:
            raise WrongUse(unknown("site", name, self.names))
        return SiteId(self.names.index(name))

    def data(self, name: str) -> Path:
        """Where the site keeps its ordered log."""
        return self.directory / self.tables.paths.data / name

    def socket(self, name: str) -> Path:
        """Where the site's participants find it."""
        return self.directory / self.tables.paths.sockets / f"{name}.sock"

    def traces(self, name: str) -> Path:
        """Where the site leaves its trace."""
        return self.directory / self.tables.paths.traces / name

    def emulated(self, one: str, other: str) -> EmulateTable | None:
        """What is emulated between two sites: the last table that speaks of them, or of their facilities."""
        found = None
        sides = ({one, self.facilities[self.names.index(one)]}, {other, self.facilities[self.names.index(other)]})
        for table in self.tables.emulate:
            first, second = table.between
            if (first in sides[0] and second in sides[1]) or (second in sides[0] and first in sides[1]):
                found = table
        return found


def read_cluster(path: Path) -> Cluster:
    """The cluster file; a `WrongUse` that names file, key and what was expected, if it is not in order."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise WrongUse(f"{path}: no such file; expected a cluster file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise WrongUse(f"{path}: cannot be read ({error})") from error
    try:
        return cluster_from(tomllib.loads(text), path.resolve().parent)
    except tomllib.TOMLDecodeError as error:
        raise WrongUse(f"{path}: is not TOML ({error})") from error
    except Mistake as error:
        raise WrongUse(f"{path}: {error}") from error


def cluster_from(table: Any, directory: Path) -> Cluster:
    """The same from a table that has been read already."""
    tables = shape(table, ClusterTables)
    _check(tables)
    return Cluster(tables, directory)


def _check(tables: ClusterTables) -> None:
    _require_name("cluster", tables.cluster)
    _check_sites(tables)
    check_group("group", tables.group, [site.name for site in tables.site])
    _check_log(tables.log)
    security = tables.security
    if security.tls and security.keys is None:
        raise Mistake(
            "security.keys", "missing, expected the directory that `ordercast keys init` makes; or security.tls = false"
        )
    places = {site.name for site in tables.site} | {site.facility for site in tables.site}
    for index, emulate in enumerate(tables.emulate):
        key = f"emulate[{index}]"
        for place, name in enumerate(emulate.between):
            if name not in places:
                raise Mistake(f"{key}.between[{place}]", unknown("site or facility", name, sorted(places)))
        require_number(join(key, "delay_ms"), emulate.delay_ms, least=0)
        require_number(join(key, "jitter_ms"), emulate.jitter_ms, least=0)
        require_number(join(key, "loss"), emulate.loss, least=0, most=0.9)


def _check_sites(tables: ClusterTables) -> None:
    if not tables.site:
        raise Mistake("site", "expected at least one site")
    if len(tables.site) > SITES_MAX:
        raise Mistake("site", f"expected at most {SITES_MAX} sites, not {len(tables.site)}")
    for index, site in enumerate(tables.site):
        _require_name(f"site[{index}].name", site.name)
        _address(site, index)
        if site.metrics is not None:
            host_and_port(site.metrics, f"site[{index}].metrics")
    require_distinct("site", [site.name for site in tables.site])
    require_distinct("site", [site.address for site in tables.site])


def check_group(table: str, group: GroupTable, sites: list[str]) -> None:
    """The ordering protocol and its options."""
    check_protocol_name(join(table, "ordering"), group.ordering)
    check_options(join(table, "options"), group.ordering, group.options, sites)
    require_number(join(table, "resilience"), group.resilience, least=0, most=SITES_MAX - 1)
    require_number(join(table, "suspicion_ms"), group.suspicion_ms, least=PATIENCE_US / 1000)


def _check_log(log: LogTable) -> None:
    require_number("log.interval_ms", log.interval_ms, above=0)
    require_number("log.segment_positions", log.segment_positions, least=1)
    for key, value in (("retention_gib", log.retention_gib), ("retention_hours", log.retention_hours)):
        if value is not None:
            require_number(f"log.{key}", value, above=0)


def _require_name(key: str, name: str) -> None:
    if not is_label(name):
        raise Mistake(key, f"expected lower-case letters, digits and hyphens, at most 63, not {shown(name)}")


def _address(site: SiteTable, index: int) -> Address:
    host, port = host_and_port(site.address, f"site[{index}].address")
    return Address(site.name, host, port)


def host_and_port(text: str, key: str) -> tuple[str, int]:
    """The two parts of an address like `10.0.1.1:7400` or `[fd00::1]:7400`."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise Mistake(key, f"expected host:port, not {shown(text)}")
    return host.strip("[]"), int(port)
