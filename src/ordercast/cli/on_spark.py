"""How commands reach Spark: on this machine by default, on a cluster if they are told of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from ordercast.core.errors import WrongUse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Command = TypeVar("Command", bound=Callable[..., Any])


class SparkChoice(NamedTuple):
    """What the command line says of Spark."""

    master: str | None
    settings: Mapping[str, str]

    def session(self) -> AbstractContextManager[SparkSession]:
        """A session to run a job in."""
        from ordercast.pipeline.session import spark_session

        return spark_session(master=self.master, settings=self.settings)


def spark_options(command: Command) -> Command:
    """`--master` and `--conf`, as the parameters `master` and `conf` of `spark_choice`."""
    options = (
        click.option("--master", metavar="URL", help="Where Spark runs: spark://HOST:PORT, sc://HOST. [default: here]"),
        click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark's; any number of them."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def spark_choice(master: str | None, conf: tuple[str, ...]) -> SparkChoice:
    """From the options."""
    settings = {}
    for setting in conf:
        key, equals, value = setting.partition("=")
        if not (key and equals):
            raise WrongUse(f"--conf {setting}: expected KEY=VALUE, like spark.executor.memory=2g")
        settings[key] = value
    return SparkChoice(master, settings)
