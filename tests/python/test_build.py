"""Messages of a build of the package when something is missing."""
import os
import shutil
import subprocess
import sys

import pytest

from conftest import ROOT

pytestmark = pytest.mark.skipif(shutil.which("cmake") is None, reason="cmake is not installed")


def configured(folder, *options, path=os.environ["PATH"]):
    """Returns the output of CMake as one line, because CMake breaks long ones."""
    command = [shutil.which("cmake"), "-S", ROOT, "-B", folder / "build", "-DSATIN_BUILD_PYTHON=ON", "-DSATIN_BUILD_TESTS=OFF",
               "-DSATIN_BUILD_APP=OFF", "-DSATIN_BUILD_SAMPLES=OFF", f"-DPython_EXECUTABLE={sys.executable}", *options]  # fmt: skip
    environment = {key: value for key, value in os.environ.items() if key not in ("CXX", "CC")} | {"PATH": path}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode != 0
    return " ".join(done.stderr.split())


def test_missing_headers_of_python_are_told_by_their_package(tmp_path):
    said = configured(tmp_path, "-DPython_INCLUDE_DIR=/nowhere", "-DSATIN_CUDA=OFF")
    assert "apt-get install" in said and said.split("apt-get install")[1].split("(")[0].strip() == "python3-dev"


def test_all_that_is_missing_is_told_at_once(tmp_path):
    said = configured(tmp_path, "-DPython_INCLUDE_DIR=/nowhere", "-DSATIN_CUDA=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_TBB=ON",
                      "-DSTB_INCLUDE_DIR=STB_INCLUDE_DIR-NOTFOUND", "-DCMAKE_FIND_ROOT_PATH=/nowhere",
                      "-DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY")  # fmt: skip
    for package in ("libtbb-dev", "libstb-dev", "python3-dev"):
        assert package in said


def test_a_missing_compiler_is_told_by_its_package(tmp_path):
    assert "apt-get install g++ make" in configured(tmp_path, path=str(tmp_path))
