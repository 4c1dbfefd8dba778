"""TLS for one site, both ways: only certificates of the cluster's authority count, each for the site it names."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

from ordercast.core.errors import WrongUse
from ordercast.site.keys.files import KeyFiles
from ordercast.site.keys.names import certified_name


class SiteSecurity:
    """The TLS contexts of a site."""

    def __init__(self, files: KeyFiles, site: str, cluster: str) -> None:
        self._files = files
        self._site = site
        self._cluster = cluster
        self.reload()

    def reload(self) -> None:
        """Read the files again: they have been renewed."""
        files = self._files
        if files.cluster.exists() and (name := files.cluster_name()) != self._cluster:
            raise WrongUse(f"{files.directory}: holds the keys of cluster {name}, not of {self._cluster}")
        self._accepting = self._context(ssl.PROTOCOL_TLS_SERVER)
        self._accepting.verify_mode = ssl.CERT_REQUIRED
        self._calling = self._context(ssl.PROTOCOL_TLS_CLIENT)

    def _context(self, protocol: int) -> ssl.SSLContext:
        files = self._files
        certificate, key = files.site(self._site)
        for path in (files.trusted, certificate, key):
            files.read(path)
        context = ssl.SSLContext(protocol)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        try:
            context.load_verify_locations(files.trusted)
            context.load_cert_chain(certificate, key)
        except ssl.SSLError as error:
            raise WrongUse(f"{certificate}: does not go with its key, or is damaged ({error.reason})") from error
        context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_LEAF
        return context

    def accepting(self) -> ssl.SSLContext:
        return self._accepting

    def calling(self) -> ssl.SSLContext:
        return self._calling

    def server_name(self, site: str) -> str:
        return certified_name(site, self._cluster)

    def why_not(self, transport: asyncio.BaseTransport, site: str) -> str | None:
        certificate: dict[str, Any] = transport.get_extra_info("peercert") or {}
        names = [name for kind, name in certificate.get("subjectAltName", ()) if kind == "DNS"]
        if self.server_name(site) in names:
            return None
        return f"it says that it is {site}, and its certificate is for {', '.join(names) or 'nobody'}"
