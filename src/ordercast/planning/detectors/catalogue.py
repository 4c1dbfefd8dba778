"""The detectors by name."""

from __future__ import annotations

from collections.abc import Callable

from ordercast.planning.detectors.cusum import Cusum
from ordercast.planning.detectors.ewma import Ewma
from ordercast.planning.detectors.kalman import Kalman
from ordercast.planning.detectors.mean_shift import MeanShift

AnyDetector = MeanShift | Ewma | Cusum | Kalman

DEFAULT = "mean-shift"

DETECTORS: dict[str, Callable[[], AnyDetector]] = {
    DEFAULT: MeanShift,
    "ewma": Ewma,
    "cusum": Cusum,
    "kalman": Kalman,
}
"""By the name that a scenario gives."""
