"""The certificate authority of a cluster: it issues, renews and revokes the certificates of sites.

Its own certificate can be replaced while the group runs. A new authority is trusted beside the old one until the old
one is *retired*; in between every site gets a certificate of the new one, in any order.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ordercast.core.errors import WrongUse
from ordercast.site.keys.files import PRIVATE, KeyFiles
from ordercast.site.keys.names import certified_name

AUTHORITY_DAYS = 3650
SITE_DAYS = 397
LIST_DAYS = 36_500
"""Lists of revoked certificates do not run out: a list that has would lock out every site."""

BACKDATED = datetime.timedelta(hours=1)
"""Certificates count from a little before they are made: clocks of sites differ."""


def init(directory: Path, cluster: str) -> KeyFiles:
    """A new cluster's authority."""
    files = KeyFiles(directory)
    if files.generations():
        raise WrongUse(f"{directory}: holds the keys of a cluster already; expected an empty directory, or none")
    certified_name("site", cluster)
    files.write(files.cluster, f"{cluster}\n".encode())
    _new_authority(files, 1)
    _write_trusted(files)
    return files


def issue(files: KeyFiles, site: str, days: int = SITE_DAYS) -> None:
    """A certificate and a new key for a site; one that it has already goes on to count until it runs out."""
    generation, certificate, key = _newest(files)
    name = certified_name(site, files.cluster_name())
    site_key = ec.generate_private_key(ec.SECP256R1())
    builder = (
        _dated(x509.CertificateBuilder(), days)
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, site)]))
        .issuer_name(certificate.subject)
        .public_key(site_key.public_key())
        .serial_number(x509.random_serial_number())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(
            x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
        )
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
    )
    made = builder.sign(key, hashes.SHA256())
    certificate_path, key_path = files.site(site)
    history = files.history(site)
    known = history.read_bytes() if history.exists() else b""
    files.write(history, known + f"{generation} {made.serial_number:x}\n".encode())
    files.write(key_path, _key_bytes(site_key), PRIVATE)
    files.write(certificate_path, made.public_bytes(serialization.Encoding.PEM))


def revoke(files: KeyFiles, site: str) -> int:
    """Nothing that was issued to the site so far counts any more; returns how many certificates that were."""
    history = files.history(site)
    if not history.exists():
        raise WrongUse(f"{site}: was never issued a certificate here")
    serials = [line.split() for line in history.read_text().splitlines()]
    for generation in files.generations():
        mine = [int(serial, 16) for issued_by, serial in serials if int(issued_by) == generation]
        _write_list(files, generation, sorted({*_revoked(files, generation), *mine}))
    _write_trusted(files)
    for path in files.site(site):
        path.unlink(missing_ok=True)
    return len(serials)


def replace_authority(files: KeyFiles) -> int:
    """A new authority, trusted beside those before it; sites need new certificates before those are retired."""
    generation, _, _ = _newest(files)
    _new_authority(files, generation + 1)
    _write_trusted(files)
    return generation + 1


def retire(files: KeyFiles) -> list[int]:
    """Only the newest authority is trusted from here on; returns those that are not any more."""
    *old, _ = files.generations() or [0]
    for generation in old:
        for path in (*files.authority(generation), files.revoked(generation)):
            path.unlink(missing_ok=True)
    _write_trusted(files)
    return old


def sites_of(files: KeyFiles) -> list[str]:
    """All sites that have a certificate."""
    return sorted(path.stem for path in files.directory.glob("*.issued") if files.site(path.stem)[0].exists())


def _newest(files: KeyFiles) -> tuple[int, x509.Certificate, Any]:
    generations = files.generations()
    if not generations:
        raise WrongUse(f"{files.directory}: holds no keys of a cluster; `ordercast keys init` makes them")
    certificate, key = (files.read(path) for path in files.authority(generations[-1]))
    loaded = serialization.load_pem_private_key(key, password=None)
    return generations[-1], x509.load_pem_x509_certificate(certificate), loaded


def _new_authority(files: KeyFiles, generation: int) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "ordercast"),
            x509.NameAttribute(NameOID.COMMON_NAME, f"{files.cluster_name()} {generation}"),
        ]
    )
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    certificate = (
        _dated(x509.CertificateBuilder(), AUTHORITY_DAYS)
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate_path, key_path = files.authority(generation)
    files.write(key_path, _key_bytes(key), PRIVATE)
    files.write(certificate_path, certificate.public_bytes(serialization.Encoding.PEM))
    _write_list(files, generation, [])


def _revoked(files: KeyFiles, generation: int) -> list[int]:
    known = x509.load_pem_x509_crl(files.read(files.revoked(generation)))
    return [each.serial_number for each in known]


def _write_list(files: KeyFiles, generation: int, serials: list[int]) -> None:
    certificate_path, key_path = files.authority(generation)
    certificate = x509.load_pem_x509_certificate(files.read(certificate_path))
    key: Any = serialization.load_pem_private_key(files.read(key_path), password=None)
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateRevocationListBuilder().issuer_name(certificate.subject)
    builder = builder.last_update(now - BACKDATED).next_update(now + datetime.timedelta(days=LIST_DAYS))
    for serial in serials:
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(now).build()
        builder = builder.add_revoked_certificate(entry)
    made = builder.sign(key, hashes.SHA256())
    files.write(files.revoked(generation), made.public_bytes(serialization.Encoding.PEM))


def _write_trusted(files: KeyFiles) -> None:
    parts = []
    for generation in files.generations():
        parts.append(files.read(files.authority(generation)[0]))
        parts.append(files.read(files.revoked(generation)))
    files.write(files.trusted, b"".join(parts))


def _dated(builder: x509.CertificateBuilder, days: int) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return builder.not_valid_before(now - BACKDATED).not_valid_after(now + datetime.timedelta(days=days))


def _key_bytes(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
