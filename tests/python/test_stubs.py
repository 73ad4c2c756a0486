"""Stubs say what the package has."""
import ast
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import satin


def test_the_stub_of_the_filters_has_what_the_package_has():
    written = ast.parse((Path(satin.__file__).parent / "filters.pyi").read_text())
    functions = {node.name: node for node in written.body if isinstance(node, ast.FunctionDef)}
    assert list(functions) == ["describe", *satin.filters.__all__]
    functions.pop("describe")
    for name, function in functions.items():
        (picture, first, *options), arguments = inspect.signature(getattr(satin, name)).parameters.values(), function.args
        assert [each.arg for each in arguments.args] == [picture.name, first.name]
        assert ast.literal_eval(arguments.defaults[0]) == first.default
        assert [each.arg for each in arguments.kwonlyargs] == [each.name for each in options]
        assert ast.get_docstring(function) == inspect.cleandoc(satin.describe(name))
        for option, default in zip(options, arguments.kw_defaults):
            missing = inspect.Parameter.empty if default is None else ast.literal_eval(default)
            assert missing == option.default, (name, option.name)


PACKAGES = str(Path(satin.__file__).parents[1])
RIGHT = """
from typing import Any

import numpy as np
import satin

image = np.zeros((4, 4, 3), np.uint8)
grey = image[..., 0]
soft: np.ndarray[Any, np.dtype[np.uint8]] = satin.blur(image, 12)
height: int = satin.read("a.png").shape[0]
satin.blur(image, radius=(3, "5%"), border="wrap", mask=grey)
satin.blur(image, np.ones((4, 4)), border="reflect101")
satin.redact(image, box=(0, 0, 2, 2), colour=(1, 2, 3))
labels: int = satin.find_regions(grey, min_area=4).regions[0].bbox[2] + 1
satin.scan.inclusive_scan(grey.ravel(), "max", initial=3)
found = satin.stats(image, percentiles=(5, 50))["statistics"]
plan = satin.Plan("blur radius=3", image)
shape: tuple[int, ...] = plan.shape
result = satin.batch("blur radius=8", "in", "out", recursive=True)
pixels, metadata = satin.read("a.png", metadata=True)
satin.write("b.png", pixels, metadata=metadata)
print(result.failures[0]["input"], labels, found, shape, satin.describe("blur"), satin.__version__)
print(satin.rle.area(satin.rle.encode(grey)), satin.luminance(image).shape, satin.devices()[0]["id"], satin.Device("cpu").id)
print(satin.statistics(image)[0].mean, satin.tone_zones(image).counts, satin.formats()[0]["name"], satin.encode(image, ".png"))
"""
WRONG = """
import numpy as np
import satin

image = np.zeros((4, 4, 3), np.uint8)
satin.blur(image, radus=3)
satin.blur(image, border="wrapp")
satin.threshold(image, window="x")
satin.blur(image, 3, 4)
satin.gaussian(image)
"""


@pytest.fixture
def callers(tmp_path):
    """Right and wrong calls, checked against the stubs in the package's folder."""
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return str(tmp_path_factory.mktemp("mypy"))


def errors(folder, command):
    environment = {**os.environ, "MYPYPATH": "" if "site-packages" in satin.__file__ else PACKAGES}
    checked = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    return [line for line in checked.stdout.splitlines() if re.search(r":\d+.* error", line)], checked.stdout + checked.stderr


def test_mypy_understands_callers_in_strict_mode(callers, cache):
    found, told = errors(callers, ["mypy", "--strict", "--cache-dir", cache, "right.py", "wrong.py"])
    assert [line.split(":")[0] for line in found] == ["wrong.py"] * 5, told


def test_pyright_understands_callers_in_strict_mode(callers):
    pytest.importorskip("pyright", reason="pyright is not installed")
    settings = {"include": ["right.py", "wrong.py"], "typeCheckingMode": "strict", "extraPaths": [PACKAGES]}
    (callers / "pyrightconfig.json").write_text(json.dumps(settings))
    found, told = errors(callers, ["pyright", "--pythonpath", sys.executable])
    if not found and "0 errors" not in told and "error" not in told:
        pytest.skip("pyright cannot run here: it loads its own Node.js")
    lines = {int(re.search(r"wrong.py:(\d+)", line)[1]) for line in found if "wrong.py" in line}
    assert not [line for line in found if "right.py" in line] and lines == set(range(6, 11)), told


def test_the_package_itself_is_typed(cache):
    """Every module but those of Ray, which has no types of its own."""
    folder = Path(satin.__file__).parent
    sources = [str(path) for path in sorted(folder.glob("*.py")) if path.name != "dask.py"]
    found, told = errors(folder.parent, ["mypy", "--strict", "--cache-dir", cache, *sources])
    assert found == [], told
