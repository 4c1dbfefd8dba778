"""Whatever a user gets wrong in a scenario file: one line naming file, key and what was expected, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from ordercast.cli.main import main
from ordercast.protocols.ordering.catalogue import PROTOCOLS
from tests.cli.scenarios import MATRIX, SMALL, changed, with_fault

PROTOCOL_NAMES = ", ".join(PROTOCOLS)
FAULT_KINDS = "clock-drift, clock-step, crash, duplicate, heal, loss, partition, pause, recover, reorder, slow-link"
LEVELS = "agreed, causal, fifo, safe"
TRAFFIC_KEYS = "sites, rate, closed_loop, source, phase, size_bytes, level, from_s, until_s"
LAN_KEYS = "name, sites, delay_ms, variance, distribution"

FIRST_SITES = 'sites = ["A", "B"]\ndelay_ms = 20\nvariance = 0.05'

# What is changed in the small scenario, into what, and the whole complaint.
CHANGES = [
    # names
    (
        '"hybrid"',
        '"hybird"',
        f'protocol.name: unknown protocol "hybird", expected one of {PROTOCOL_NAMES}; did you mean hybrid?',
    ),
    ('"hybrid"', '"babel"', f'protocol.name: unknown protocol "babel", expected one of {PROTOCOL_NAMES}'),
    ('sites = ["B"]', 'sites = ["F"]', 'traffic[1].sites[0]: unknown site "F", expected one of A, B, C'),
    ('sites = ["B"]', 'sites = ["B", "B"]', "traffic[1].sites[1]: B is there twice, expected each once"),
    ('sites = ["B"]', "sites = []", "traffic[1].sites: expected at least one site"),
    (
        '"west", "east"',
        '"west", "eats"',
        'wan[0].between[1]: unknown LAN "eats", expected one of west, east; did you mean east?',
    ),
    ('"west", "east"', '"west", "west"', "wan[0].between: expected two LANs, not west twice"),
    ('"west", "east"', '"west"', "wan[0].between: expected a list of two names, not 1 of them"),
    ('name = "east"', 'name = "west"', 'lan[1].name: "west" is the name of another LAN, expected one of its own'),
    ('name = "east"', 'name = ""', 'lan[1].name: expected a printable name, not ""'),
    ('name = "east"', "", "lan[1].name: missing, expected a string"),
    ('sites = ["C"]', 'sites = ["C\\n"]', r'lan[1].sites[0]: expected a printable name, not "C\n"'),
    # keys and units
    ("seed = 1", "sede = 1", "sede: unknown key, did you mean seed?"),
    (
        "seed = 1",
        "horizon = 1",
        "horizon: unknown key, expected one of lan, wan, delays, protocol, seed, duration_s, warmup_s, traffic, fault, "
        "change",
    ),
    ("duration_s = 4", "duration_ms = 4", "duration_ms: unknown key, did you mean duration_s?"),
    ("delay_ms = 100", "delay_s = 1", "wan[0].delay_s: unknown key, did you mean delay_ms?"),
    ("delay_ms = 100", "", "wan[0].delay_ms: missing, expected a number"),
    ("delay_ms = 100", 'delay_ms = "100 ms"', 'wan[0].delay_ms: expected a number, not the string "100 ms"'),
    (FIRST_SITES, FIRST_SITES + '\nmedium = "ethernet"', f"lan[0].medium: unknown key, expected one of {LAN_KEYS}"),
    ("rate = 5\n", "rate = 5\nburst = true\n", f"traffic[1].burst: unknown key, expected one of {TRAFFIC_KEYS}"),
    ("rate = 5\n", 'rate = 5\n"a\\nb" = 1\n', rf'traffic[1]."a\nb": unknown key, expected one of {TRAFFIC_KEYS}'),
    ("from_s = 1", "from = 1", "traffic[1].from: unknown key, did you mean from_s?"),
    # types and values
    ('estimates = "known"', 'estimates = "given"', 'protocol.estimates: expected one of known, online, not "given"'),
    (
        'estimates = "known"',
        'stack = "fall"',
        'protocol.stack: expected one of full, ideal, not "fall"; did you mean full?',
    ),
    ('estimates = "known"', "stack = true", "protocol.stack: expected one of full, ideal, not true"),
    (
        'estimates = "known"',
        'level = "sage"',
        f'protocol.level: expected one of {LEVELS}, not "sage"; did you mean safe?',
    ),
    ('estimates = "known"', 'level = "safe"', 'protocol.level: safe needs protocol.stack = "full"'),
    ('estimates = "known"', 'level = "fifo"', 'protocol.level: fifo needs protocol.stack = "full"'),
    (
        'estimates = "known"',
        'stack = "ideal"\nlevel = "causal"',
        'protocol.level: causal needs protocol.stack = "full"',
    ),
    ('estimates = "known"', "resilience = 1.5", "protocol.resilience: expected a whole number, not 1.5"),
    ('estimates = "known"', "resilience = -1", "protocol.resilience: expected at least 0, not -1"),
    ('estimates = "known"', "resilience = 20000", "protocol.resilience: expected at most 16383, not 20000"),
    ("rate = 5\n", 'rate = 5\nlevel = "causal"\n', 'traffic[1].level: causal needs protocol.stack = "full"'),
    ("rate = 5\n", 'rate = 5\nlevel = "none"\n', f'traffic[1].level: expected one of {LEVELS}, not "none"'),
    ('estimates = "known"', "estimates = 3", "protocol.estimates: expected one of known, online, not 3"),
    (
        "rate = 5\n",
        'rate = 5\nsource = "poison"\n',
        'traffic[1].source: expected one of periodic, poisson, quasi-periodic, not "poison"; did you mean poisson?',
    ),
    ("seed = 1", "seed = 1.5", "seed: expected a whole number, not 1.5"),
    ("seed = 1", "seed = true", "seed: expected a whole number, not true"),
    ("seed = 1", "seed = -1", "seed: expected at least 0, not -1"),
    ("seed = 1", "seed = 1979-05-27", "seed: expected a whole number, not 1979-05-27"),
    ('sites = ["B"]', 'sites = "B"', 'traffic[1].sites: expected a list of names, not the string "B"'),
    ('sites = ["B"]', "sites = [2]", "traffic[1].sites[0]: expected a string, not 2"),
    ("[[wan]]", "[wan]", "wan: expected [[wan]] tables, not one table"),
    # network
    (FIRST_SITES, FIRST_SITES.replace('"A", "B"', ""), "lan[0].sites: expected at least one site"),
    (
        FIRST_SITES,
        FIRST_SITES.replace('"A", "B"', '"A", "B", "A"'),
        "lan[0].sites[2]: A is there twice, expected each once",
    ),
    ('sites = ["C"]', 'sites = ["A"]', "lan[1].sites[0]: A is in LAN west, expected each site in one LAN"),
    ("delay_ms = 100", "delay_ms = -100", "wan[0].delay_ms: expected at least 0, not -100"),
    ("delay_ms = 100", "delay_ms = nan", "wan[0].delay_ms: expected a finite number, not nan"),
    ("delay_ms = 100", "delay_ms = 1e300", "wan[0].delay_ms: expected at most 1000000000, not 1e+300"),
    ("delay_ms = 100", "delay_ms = 100\nvariance = -1", "wan[0].variance: expected at least 0, not -1"),
    (
        FIRST_SITES,
        FIRST_SITES.replace("0.05", "900"),
        "lan[0].variance: expected at most 202.99 ms², not 900: some of the chi2 delays around 20 ms would be negative",
    ),
    (
        FIRST_SITES,
        FIRST_SITES + '\ndistribution = "constant"',
        "lan[0].variance: expected 0 with distribution constant, not 0.05",
    ),
    (
        FIRST_SITES,
        FIRST_SITES + '\ndistribution = "normal"',
        "lan[1].distribution: expected normal as in lan[0], one for all, not chi2",
    ),
    ('[[wan]]\nbetween = ["west", "east"]\ndelay_ms = 100\n', "", "wan: expected a path from west to east"),
    # times
    ("duration_s = 4", "duration_s = 0", "duration_s: expected more than 0, not 0"),
    ("duration_s = 4", "duration_s = 1e-9", "duration_s: expected at least 1e-06, not 1e-09"),
    ("duration_s = 4", "duration_s = inf", "duration_s: expected a finite number, not inf"),
    ("warmup_s = 1", "warmup_s = -1", "warmup_s: expected at least 0, not -1"),
    ("warmup_s = 1", "warmup_s = 4", "warmup_s: expected less than duration_s (4), not 4"),
    # traffic
    ("rate = 5\n", "rate = 0\n", "traffic[1].rate: expected more than 0, not 0"),
    ("rate = 5\n", "rate = 1e-300\n", "traffic[1].rate: expected at least 1e-09, not 1e-300"),
    ("rate = 5\n", "rate = 2e6\n", "traffic[1].rate: expected at most 1000000, not 2000000"),
    ("rate = 5\n", "", "traffic[1]: expected either rate or closed_loop, not neither"),
    ("rate = 5\n", "rate = 5\nclosed_loop = 2\n", "traffic[1]: expected either rate or closed_loop, not both"),
    ("rate = 5\n", "closed_loop = 0\n", "traffic[1].closed_loop: expected at least 1, not 0"),
    ("rate = 5\n", "closed_loop = 1000000000\n", "traffic[1].closed_loop: expected at most 100000, not 1000000000"),
    ("rate = 5\n", "closed_loop = 1.5\n", "traffic[1].closed_loop: expected a whole number, not 1.5"),
    ("rate = 5\n", "rate = 5\nsize_bytes = -1\n", "traffic[1].size_bytes: expected at least 0, not -1"),
    (
        "rate = 5\n",
        "rate = 5\nsize_bytes = 1000000000000\n",
        "traffic[1].size_bytes: expected at most 16777216, not 1000000000000",
    ),
    ("from_s = 1", "from_s = -1", "traffic[1].from_s: expected at least 0, not -1"),
    ("from_s = 1", "from_s = 4", "traffic[1].from_s: expected less than duration_s (4), not 4"),
    ("until_s = 3", "until_s = 1.0000001", "traffic[1].until_s: expected more than from_s (1), not 1.0000001"),
    ("until_s = 3", "until_s = 1", "traffic[1].until_s: expected more than from_s (1), not 1"),
    # options of the protocol
    ("active = ", "activ = ", "protocol.options.activ: unknown option, did you mean active?"),
    ("active = ", "quorum = ", "protocol.options.quorum: unknown option, hybrid knows active, detector"),
    (
        'active = ["A", "C"]',
        'detector = "cumsum"',
        'protocol.options.detector: unknown detector "cumsum", expected one of mean-shift, ewma, cusum, kalman; '
        "did you mean cusum?",
    ),
    (
        'active = ["A", "C"]',
        "detector = 7",
        "protocol.options.detector: expected one of mean-shift, ewma, cusum, kalman, not 7",
    ),
    ('name = "hybrid"', 'name = "symmetric"', "protocol.options.active: unknown option, symmetric has none"),
    ('active = ["A", "C"]', 'active = "A"', 'protocol.options.active: expected a list of sites, not "A"'),
    ('active = ["A", "C"]', "active = [1]", "protocol.options.active: expected a list of sites, not a list"),
    ('active = ["A", "C"]', "active = []", "protocol.options.active: expected at least one site"),
    (
        'active = ["A", "C"]',
        'active = ["A", "Z"]',
        'protocol.options.active[1]: unknown site "Z", expected one of A, B, C',
    ),
    ('active = ["A", "C"]', 'active = ["A", "A"]', "protocol.options.active[1]: A is there twice, expected each once"),
    ("options = { active", "options = 3 # { active", "protocol.options: expected one [protocol.options] table, not 3"),
]

# The same for a scenario with a matrix.
MATRIX_CHANGES = [
    ("[[0, 10], [12, 0]]", "[[0, 10]]", "delays.one_way_ms: expected 2 rows, one for each site, not 1"),
    ("[[0, 10], [12, 0]]", "[[0, 10], [12]]", "delays.one_way_ms[1]: expected 2 numbers, one for each site, not 1"),
    ("[[0, 10], [12, 0]]", "[[0, -10], [12, 0]]", "delays.one_way_ms[0][1]: expected at least 0, not -10"),
    (
        "[[0, 10], [12, 0]]",
        "[[0, 10], [12, 3]]",
        "delays.one_way_ms[1][1]: expected 0 (a site receives its own messages at once), not 3",
    ),
    ("[[0, 10], [12, 0]]", '[[0, 10], ["x", 0]]', 'delays.one_way_ms[1][0]: expected a number, not the string "x"'),
    ("[[0, 10], [12, 0]]", "10", "delays.one_way_ms: expected a list of rows of numbers, not 10"),
    ("variance = 0.1", "variance = [[0, 1]]", "delays.variance: expected 2 rows, one for each site, not 1"),
    ("variance = 0.1", "variance = [[0, 1], [-1, 0]]", "delays.variance[1][0]: expected at least 0, not -1"),
    (
        "variance = 0.1",
        'variance = "little"',
        'delays.variance: expected a list of rows of numbers or a number, not the string "little"',
    ),
    ('["A", "B"]', '["A", "A"]', "delays.sites[1]: A is there twice, expected each once"),
    ('["A", "B"]', "[]", "delays.sites: expected at least one site"),
    (
        "[[traffic]]",
        "[[lan]]\nname = 'w'\nsites = ['C']\ndelay_ms = 1\n[[traffic]]",
        "delays: expected either [delays] or [[lan]] and [[wan]] tables, not both",
    ),
    ('site = "B"', 'site = "C"', 'protocol.options.site: unknown site "C", expected one of A, B'),
    ('site = "B"', 'site = ["B"]', "protocol.options.site: expected the name of a site, not a list"),
    ("[delays]", "[[delays]]", "delays: expected one [delays] table, not a list"),
]

FAULTS = [
    ('kind = "flood"\nat_s = 1', f'kind: expected one of {FAULT_KINDS}, not "flood"'),
    (
        'kind = "clock-stop"\nat_s = 1',
        f'kind: expected one of {FAULT_KINDS}, not "clock-stop"; did you mean clock-step?',
    ),
    ('kind = "recover"\nat_s = 1', "sites: missing, a recover fault needs sites"),
    (
        'kind = "recover"\nat_s = 1\nsites = ["A"]\nfor_s = 1',
        "for_s: unknown key for a recover fault, expected one of kind, at_s, sites",
    ),
    ('kind = "clock-step"\nat_s = 1\nsites = ["A"]', "by_ms: missing, a clock-step fault needs sites, by_ms"),
    ('kind = "clock-step"\nat_s = 1\nsites = ["A"]\nby_ms = "x"', 'by_ms: expected a number, not the string "x"'),
    ('kind = "clock-step"\nat_s = 1\nsites = ["A"]\nby_ms = nan', "by_ms: expected a finite number, not nan"),
    (
        'kind = "clock-step"\nat_s = 1\nsites = ["A"]\nby_ms = -1e10',
        "by_ms: expected at least -1000000000, not -10000000000",
    ),
    ('kind = "clock-drift"\nat_s = 1\nsites = ["A"]\nppm = nan', "ppm: expected a finite number, not nan"),
    ('kind = "clock-drift"\nat_s = 1\nsites = ["A"]\nppm = 1e6', "ppm: expected at most 100000, not 1000000"),
    ('kind = "clock-drift"\nat_s = 1\nsites = ["A"]\nppm = -1e6', "ppm: expected at least -100000, not -1000000"),
    ('kind = "clock-drift"\nat_s = 1\nppm = 50', "sites: missing, a clock-drift fault needs sites, ppm"),
    (
        'kind = "clock-drift"\nat_s = 1\nsites = ["A"]\nppm = 50\nuntil_s = 3',
        "until_s: unknown key for a clock-drift fault, expected one of kind, at_s, sites, ppm",
    ),
    (
        'kind = "crash"\nat_s = 1\nsites = ["A"]\nby_ms = 5',
        "by_ms: unknown key for a crash fault, expected one of kind, at_s, sites",
    ),
    ('kind = "crash"\nat_s = 1', "sites: missing, a crash fault needs sites"),
    ('kind = "crash"\nsites = ["A"]', "at_s: missing, expected a number"),
    ('kind = "crash"\nat_s = -1\nsites = ["A"]', "at_s: expected at least 0, not -1"),
    (
        'kind = "crash"\nat_s = 1\nsites = ["A"]\nuntil_s = 2',
        "until_s: unknown key for a crash fault, expected one of kind, at_s, sites",
    ),
    ('kind = "pause"\nat_s = 1\nsites = ["A"]', "for_s: missing, a pause fault needs sites, for_s"),
    ('kind = "pause"\nat_s = 1\nsites = ["A"]\nfor_s = 0', "for_s: expected more than 0, not 0"),
    ('kind = "partition"\nat_s = 2\nsites = ["C"]\nuntil_s = 1', "until_s: expected more than at_s (2), not 1"),
    (
        'kind = "partition"\nat_s = 2\nsites = ["A", "B", "C"]',
        "sites: expected one side of the partition, not all sites",
    ),
    ('kind = "partition"\nat_s = 2\nsites = ["C"]\none_way = 1', "one_way: expected true or false, not 1"),
    ('kind = "heal"\nat_s = 2\nsites = ["C"]', "sites: unknown key for a heal fault, expected one of kind, at_s"),
    ('kind = "loss"\nat_s = 0', "probability: missing, a loss fault needs probability"),
    ('kind = "loss"\nat_s = 0\nprobability = 1.5', "probability: expected at most 1, not 1.5"),
    ('kind = "reorder"\nat_s = 0\nprobability = -0.1', "probability: expected at least 0, not -0.1"),
    (
        'kind = "loss"\nat_s = 0\nprobability = 0.1\nbetween = ["west", "A"]',
        'between[0]: unknown site "west", expected one of A, B, C',
    ),
    ('kind = "slow-link"\nat_s = 0\nbetween = ["A", "A"]\nextra_ms = 5', "between: expected two sites, not A twice"),
    ('kind = "slow-link"\nat_s = 0\nbetween = ["A", "B"]\nextra_ms = -5', "extra_ms: expected at least 0, not -5"),
    ('kind = "loss"\nat_s = 0\nprobabilty = 0.1', "probabilty: unknown key, did you mean probability?"),
]


def assert_refused(text: str | bytes, complaint: str, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both commands say this, on one line, and exit with 2."""
    monkeypatch.chdir(directory)
    Path("s.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    for command in ("simulate", "plan"):
        result = CliRunner().invoke(main, [command, "s.toml"])
        assert result.stderr == f"s.toml: {complaint}\n"
        assert result.exit_code == 2
        assert isinstance(result.exception, SystemExit), "anything else would have shown a traceback"
        assert result.stdout == ""


@pytest.mark.parametrize(("old", "new", "complaint"), CHANGES)
def test_mistakes(old: str, new: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_refused(changed(SMALL, old, new), complaint, tmp_path, monkeypatch)


@pytest.mark.parametrize(("old", "new", "complaint"), MATRIX_CHANGES)
def test_mistakes_in_a_matrix(
    old: str, new: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_refused(changed(MATRIX, old, new), complaint, tmp_path, monkeypatch)


@pytest.mark.parametrize(("fault", "complaint"), FAULTS)
def test_mistakes_in_faults(fault: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_refused(with_fault(fault), f"fault[0].{complaint}", tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"= 3", "is not TOML: Invalid statement (at line 1, column 1)"),
        (b"\xff", "is not TOML: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"),
        (b"a = " + b"[" * 100_000, "is not TOML: maximum recursion depth exceeded"),
        (b"", "protocol: missing, expected one [protocol] table"),
        (b"protocol = 'hybrid'", 'protocol: expected one [protocol] table, not the string "hybrid"'),
        (b"[protocol]\nname = 'hybrid'", "lan: missing, expected [[lan]] tables or one [delays] table"),
        (MATRIX[: MATRIX.index("[[traffic]]")].encode(), "traffic: expected at least one [[traffic]] table"),
    ],
)
def test_mistakes_in_the_whole_file(
    text: bytes, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_refused(text, complaint, tmp_path, monkeypatch)


IDEAL = changed(SMALL, 'name = "hybrid"', 'name = "hybrid"\nstack = "ideal"')


@pytest.mark.parametrize(
    ("faults", "complaint"),
    [
        (
            ['kind = "crash"\nat_s = 1\nsites = ["A"]', 'kind = "crash"\nat_s = 2\nsites = ["A"]'],
            "fault[1].sites[0]: A has crashed before, by fault[0]",
        ),
        (
            ['kind = "crash"\nat_s = 1\nsites = ["A", "B", "C"]'],
            "fault[0].sites: expected at least one site that never crashes",
        ),
        (
            ['kind = "crash"\nat_s = 1\nsites = ["A"]', 'kind = "recover"\nat_s = 2\nsites = ["A"]'],
            'fault[1].kind: a recover fault needs protocol.stack = "full"',
        ),
        (
            ['kind = "clock-step"\nat_s = 2\nsites = ["A"]\nby_ms = -5'],
            'fault[0].kind: a clock-step fault needs protocol.stack = "full"',
        ),
        (
            ['kind = "clock-drift"\nat_s = 2\nsites = ["A"]\nppm = 50'],
            'fault[0].kind: a clock-drift fault needs protocol.stack = "full"',
        ),
    ],
)
def test_mistakes_in_faults_on_the_ideal_stack(
    faults: list[str], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_refused("\n[[fault]]\n".join([IDEAL, *faults]), complaint, tmp_path, monkeypatch)


def test_more_sites_than_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ", ".join(f'"s{number}"' for number in range(16385))
    complaint = "lan: expected at most 16384 sites, not 16388"
    assert_refused(changed(SMALL, '["C"]', f'["C", {names}]'), complaint, tmp_path, monkeypatch)


def test_a_file_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["simulate", "nowhere.toml"])
    assert (result.exit_code, result.stderr) == (2, "nowhere.toml: cannot be read (No such file or directory)\n")


def test_a_file_whose_name_has_two_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["plan", "no\nwhere"])
    assert (result.exit_code, result.stderr) == (2, '"no\\nwhere": cannot be read (No such file or directory)\n')
