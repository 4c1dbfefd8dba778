"""Settings of all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

settings.register_profile("ordercast", deadline=None, derandomize=True)
settings.load_profile("ordercast")


class SparkInOneProcess(LoadScopeScheduling):  # type: ignore[misc]
    """Every test goes to the next process that is free; but those that need Java all go to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        """Tests of one scope are not divided."""
        return "pipeline" if nodeid.startswith("tests/pipeline/") else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> SparkInOneProcess:
    """How tests are shared out among processes."""
    return SparkInOneProcess(config, log)
