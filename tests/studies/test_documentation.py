"""The study that docs/studies.md adds, pasted as a reader would."""

from __future__ import annotations

import importlib.util
import re
from functools import partial
from pathlib import Path

from ordercast.studies.framework.grid import run_grid
from ordercast.studies.framework.study import Size, Study, all_studies, conduct

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")


def pasted(directory: Path) -> Study:
    """The page's module, imported from a file."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (name,) = re.findall(r"`src/ordercast/studies/(\w+)\.py`", PAGE)
    path = directory / f"{name}.py"
    path.write_text(code)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    study = module.STUDY
    assert isinstance(study, Study)
    assert study.name == name.replace("_", "-")
    return study


def test_the_study_of_the_page_runs_and_its_claims_hold(tmp_path: Path) -> None:
    study = pasted(tmp_path)
    assert len(study.grid(Size.QUICK)) < len(study.grid(Size.NORMAL))
    assert conduct(study, Size.QUICK, runner=partial(run_grid, workers=1)).good


def test_the_page_tells_which_file_every_study_is() -> None:
    for study in all_studies():
        assert f"`{study.name}`" in PAGE, study.name
        assert f"(../src/ordercast/studies/{study.name.replace('-', '_')}.py)" in PAGE
