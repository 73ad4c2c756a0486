"""The scripts of samples/python, on the scene that samples/render_scene.cpp draws."""
import functools
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import satin
from conftest import ROOT

SCRIPTS = ROOT / "samples" / "python"
NEEDS = {"regions_to_frame.py": "pandas", "folder.py": "tqdm", "pytorch_transform.py": "torch", "vips_pipeline.py": "pyvips"}
SAYS = {
    "depth_of_field.py": r"same bytes: True",
    "clean_page.py": r"of the page is ink; [1-9]\d* of \d+ areas were specks",
    "regions_to_frame.py": r"bulb +\d+ +\d+\nglint +\d+ +\d+",
    "folder.py": r"4 of 4 done",
    "vips_pipeline.py": r"soft: 240 x 160 pixels\nfar: [1-9]\d* % of the picture",
    "pytorch_transform.py": r"batches of \(8, 3, 64, 64\) torch.uint8 on cpu",
}


def built(name):
    """A file of the build that SATIN_TEST_BUILD names, or of the newest one here that has it."""
    told = os.environ.get("SATIN_TEST_BUILD")
    builds = [Path(told)] if told else sorted((ROOT / ".build").glob("*"), key=lambda path: path.stat().st_mtime, reverse=True)
    return next((path for path in (build / name for build in builds) if path.exists()), None)


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """The pictures of satin_render_scene."""
    program = built("satin_render_scene")
    if program is None:
        pytest.skip("there is no satin_render_scene: build the samples, or name their build by SATIN_TEST_BUILD")
    folder = tmp_path_factory.mktemp("scene")
    subprocess.run([program, "-o", folder, "--width", "480", "--height", "320"], check=True, capture_output=True)
    return folder


@functools.lru_cache(maxsize=None)
def run(script, folder):
    environment = {**os.environ, "PYTHONPATH": str(Path(satin.__file__).parents[1]),
                   "VIPSHOME": str(built("hosts/vips") or "")}  # fmt: skip
    return subprocess.run([sys.executable, "-B", "-W", "error", SCRIPTS / script, folder], capture_output=True, text=True,
                          check=False, env=environment)  # fmt: skip


def test_every_script_is_tested_and_told_of():
    names = {path.name for path in SCRIPTS.glob("*.py")}
    assert names == set(SAYS) == set(re.findall(r"\]\((\w+\.py)\)", (SCRIPTS / "README.md").read_text()))


@pytest.mark.parametrize("script", SAYS)
def test_scripts(script, scene):
    if script in NEEDS and importlib.util.find_spec(NEEDS[script]) is None:
        pytest.skip(f"{NEEDS[script]} is not installed")
    if script == "vips_pipeline.py" and built("hosts/vips") is None:
        pytest.skip("the module for libvips is not built")
    done = run(script, scene)
    assert done.returncode == 0, done.stderr
    assert re.search(SAYS[script], done.stdout), done.stdout


def test_depth_of_field_keeps_what_it_focuses(scene):
    changes = re.findall(r"changes by ([\d.]+) grey levels, the picture by ([\d.]+)", run("depth_of_field.py", scene).stdout)
    (king, all_of_portrait), (blurred_king, _) = [tuple(map(float, each)) for each in changes]
    assert king < 0.2 * all_of_portrait and king < 0.2 * blurred_king
