"""`ordercast keys`: certificates by which sites know each other."""

from __future__ import annotations

from pathlib import Path

import click

from ordercast.cli.output import remark
from ordercast.core.errors import WrongUse
from ordercast.site.keys import authority
from ordercast.site.keys.files import KeyFiles

DIRECTORY = click.Path(file_okay=False, path_type=Path)

directory_argument = click.argument("directory", type=DIRECTORY)
days_option = click.option(
    "--days", type=click.IntRange(1, 3650), default=authority.SITE_DAYS, show_default=True, help="How long it counts."
)


@click.group(short_help="Make and renew the certificates by which sites know each other.")
def command() -> None:
    """Make and renew the certificates by which sites know each other.

    \b
    A new cluster with three sites:
      ordercast keys init keys/ --cluster orders
      ordercast keys issue keys/ lis1 lis2 por1
    Each machine gets keys/trusted.pem and the .crt and .key of its own site; nothing else should leave yours.

    \b
    New certificates for all, while the group runs; those before go on to count:
      ordercast keys rotate keys/
    A new authority as well, in three steps, each copied to all machines before the next:
      ordercast keys rotate keys/ --authority     (the new one is trusted beside the old one)
      ordercast keys rotate keys/                 (certificates of the new one)
      ordercast keys retire keys/                 (the old one is trusted no more)
    A machine is lost:
      ordercast keys revoke keys/ lis2
    After each step copy trusted.pem and the sites' files to their machines, and send each site a SIGHUP.
    """


@command.command("init")
@directory_argument
@click.option("--cluster", required=True, help="The cluster's name, as in its file.")
def init(directory: Path, cluster: str) -> None:
    """Make the authority of a new cluster."""
    authority.init(directory, cluster)
    click.echo(f"{directory}: authority of cluster {cluster}; next: ordercast keys issue {directory} SITE ...")


@command.command("issue")
@directory_argument
@click.argument("sites", nargs=-1, required=True, metavar="SITE...")
@days_option
def issue(directory: Path, sites: tuple[str, ...], days: int) -> None:
    """Give sites a certificate and a key each."""
    files = KeyFiles(directory)
    for site in sites:
        authority.issue(files, site, days)
        click.echo(f"{files.site(site)[0]}: certificate of {site}, for {days} days")


@command.command("rotate")
@directory_argument
@click.argument("sites", nargs=-1, metavar="[SITE...]")
@click.option("--authority", "new_authority", is_flag=True, help="Only a new authority, trusted beside the old one.")
@days_option
def rotate(directory: Path, sites: tuple[str, ...], new_authority: bool, days: int) -> None:
    """Give sites (all, if none is named) new certificates; those before go on to count until they run out."""
    files = KeyFiles(directory)
    if new_authority:
        generation = authority.replace_authority(files)
        click.echo(f"{files.authority(generation)[0]}: the new authority, trusted beside those before")
        remark(f"Copy {files.trusted} to every machine, SIGHUP each site; then `ordercast keys rotate {directory}`.")
        return
    known = authority.sites_of(files)
    for site in sites or known:
        if site not in known:
            raise WrongUse(f"{site}: has no certificate here to renew; `ordercast keys issue {directory} {site}`")
        authority.issue(files, site, days)
        click.echo(f"{files.site(site)[0]}: renewed for {days} days")
    remark("Copy the new files to the machines of their sites and send each site a SIGHUP.")


@command.command("revoke")
@directory_argument
@click.argument("sites", nargs=-1, required=True, metavar="SITE...")
def revoke(directory: Path, sites: tuple[str, ...]) -> None:
    """Whatever was issued to these sites counts no more."""
    files = KeyFiles(directory)
    for site in sites:
        count = authority.revoke(files, site)
        click.echo(f"{site}: revoked {count} certificate{'s' if count != 1 else ''}")
    remark(f"Copy {files.trusted} to every machine and send each site a SIGHUP.")


@command.command("retire")
@directory_argument
def retire(directory: Path) -> None:
    """Trust only the newest authority from here on."""
    retired = authority.retire(KeyFiles(directory))
    click.echo(f"{directory}: " + (f"retired {len(retired)}" if retired else "there is only one authority"))
