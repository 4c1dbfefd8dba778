"""`ordercast pack`: the package as one file."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Write this package as one file, for the workers of a cluster.")
@click.argument("file", metavar="FILE.zip", type=click.Path(path_type=Path))
def command(file: Path) -> None:
    """Write this very package as FILE.zip, from which Python can import it.

    Jobs that ordercast starts by --master take it along by themselves. A job of your own gives it to its workers so:

    \b
      spark-submit --py-files FILE.zip job.py
      session.addArtifacts("FILE.zip", pyfile=True)

    What the package depends on must be installed where the workers are: docs/pipeline.md.
    """
    from ordercast.pipeline.packing import pack

    pack(file)
    click.echo(file)
