"""The command itself: help, exit codes, and what it must not import to answer at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from ordercast import __version__
from ordercast.cli import output
from ordercast.cli.main import COMMANDS, main
from ordercast.core.errors import NotFit, WrongUse
from ordercast.core.ids import MessageId, SiteId
from ordercast.core.messages import Bundle
from tests.cli.scenarios import SMALL, changed

COMMAND = [sys.executable, "-c", "from ordercast.cli.main import main; main(prog_name='ordercast')"]


def in_a_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A true run of the command."""
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=60
    )


def raising(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> int:
    """The exit code of a command that raises this."""

    @click.command()
    def command() -> None:
        raise error

    monkeypatch.setattr(main, "get_command", lambda ctx, name: command)
    return CliRunner().invoke(main, ["plan"]).exit_code


def test_help_names_every_command_and_shows_examples() -> None:
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    for name, (_, summary) in COMMANDS.items():
        assert f"  {name} " in result.stdout
        assert summary in result.stdout
    assert "ordercast simulate examples/" in result.stdout


@pytest.mark.parametrize("name", ["simulate", "plan"])
def test_every_command_teaches_by_an_example(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert f"\n    ordercast {name} examples/" in result.stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom ordercast.cli.main import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'msgspec', 'rich', 'numpy', 'scipy', 'pyarrow', 'matplotlib', 'asyncio'}\n"
        "print(*sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "Commands:" in done.stdout
    assert done.stderr == "\n"


def test_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).stdout == f"ordercast {__version__}\n"


def test_an_unknown_command_is_told_the_known_ones() -> None:
    result = CliRunner().invoke(main, ["simulat"])
    assert result.exit_code == 2
    assert f"No such command 'simulat'; expected one of {', '.join(COMMANDS)}." in result.stderr


@pytest.mark.parametrize("arguments", [["simulate"], ["simulate", "a.toml", "b.toml"], ["plan", "a.toml", "--wat"]])
def test_wrong_arguments_are_wrong_use(arguments: list[str]) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert "Usage: " in result.stderr


def test_exit_codes_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    assert raising(WrongUse("do it so"), monkeypatch) == 2
    assert raising(NotFit("get that"), monkeypatch) == 3
    assert raising(KeyboardInterrupt(), monkeypatch) == 130


def test_our_own_bugs_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "get_command", lambda ctx, name: click.Command("plan", callback=lambda: [][0]))
    assert isinstance(CliRunner().invoke(main, ["plan"]).exception, IndexError)


def test_a_mistake_in_a_true_run(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(changed(SMALL, "delay_ms = 100", "delay_ms = -100"))
    done = in_a_process("simulate", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{path}: wan[0].delay_ms: expected at least 0, not -100\n"


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SMALL)
    for arguments in (["simulate", str(path)], ["simulate", str(path), "--json"], ["plan", str(path)]):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run([*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, timeout=60)
        os.close(writing)
        assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no device that is always full")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["study", "--list"], ["plan", "s.toml"], ["plan", "s.toml", "--json"]]
)
def test_a_full_disk_is_told_in_one_line(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SMALL)
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, cwd=tmp_path, timeout=60)
    assert done.returncode == 3
    assert done.stderr == b"the output cannot be written (No space left on device)\n"


def test_an_interrupted_run_leaves_no_traceback(tmp_path: Path) -> None:
    """The run is far too long to end by itself; it is interrupted once it has begun to write its trace."""
    path = tmp_path / "s.toml"
    path.write_text(changed(SMALL, "duration_s = 4", "duration_s = 1000000"))
    process = subprocess.Popen(
        [*COMMAND, "simulate", str(path), "--trace", str(tmp_path / "traces")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while process.poll() is None and not list(tmp_path.glob("traces/.*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (130, b"", b"")
    assert not (tmp_path / "traces" / "s-hybrid-1.parquet").exists(), "half a trace is no trace"


def test_speed_and_progress_go_to_a_terminal_only(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(SMALL)
    quiet = in_a_process("simulate", str(path), "--json")
    ours, theirs = os.openpty()
    done = subprocess.run(
        [*COMMAND, "simulate", str(path), "--json"], stdout=subprocess.PIPE, stderr=theirs, timeout=60
    )
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    os.close(theirs)
    assert " events per second" in shown
    assert (quiet.stderr, quiet.stdout) == ("", done.stdout.decode())


def test_progress_tells_virtual_time(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "PROGRESS_EVERY_S", 0)
    progress = output.Progress(10)
    progress.on_multicast(2_500_000, SiteId(0), Bundle(MessageId(0), ()))
    assert capsys.readouterr().err == "\r2.5 s of 10 s"
