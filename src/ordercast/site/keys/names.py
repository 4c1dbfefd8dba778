"""The name that a site's certificate bears."""

from __future__ import annotations

import re

from ordercast.core.errors import WrongUse

_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


def is_label(name: str) -> bool:
    """Whether a name can stand in a certificate and in the name of a file."""
    return _LABEL.fullmatch(name) is not None


def certified_name(site: str, cluster: str) -> str:
    """Unlike any host's name, and of one cluster only."""
    for name in (site, cluster):
        if not is_label(name):
            raise WrongUse(f"{name!r}: expected lower-case letters, digits and hyphens, at most 63")
    return f"{site}.{cluster}.ordercast"
