import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import png_file

BINARY = str(Path(os.environ.get("SATIN_BINARY", "build/satin")).resolve())
FULL_CODECS = os.environ.get("SATIN_CODECS", "FULL") == "FULL"


def pytest_configure(config):
    if not os.access(BINARY, os.X_OK):
        pytest.exit("There is no %s: build it, or set SATIN_BINARY." % BINARY, returncode=2)


class Satin:
    """Runs the command in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        self.environment.pop("NO_COLOR", None)

    def start(self, *arguments, **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([BINARY, *map(str, arguments)], cwd=self.folder, env=self.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def __call__(self, *arguments, stdin=b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        result = subprocess.run([BINARY, *map(str, arguments)], cwd=self.folder, env=self.environment, input=stdin,
                                stdout=stdout, stderr=stderr, timeout=120)
        result.error = (result.stderr or b"").decode("utf-8", "replace")
        return result

    def good(self, *arguments, **options):
        result = self(*arguments, **options)
        assert result.returncode == 0, result.error
        return result

    def bad(self, code, *arguments, says=(), lines=2, **options):
        """Fails with the exit code and one or two lines, or as many as are told, that say all of `says`."""
        result = self(*arguments, **options)
        assert result.returncode == code, (result.returncode, result.error)
        assert result.error.startswith("satin: "), result.error
        assert len(result.error.strip().splitlines()) <= lines, result.error
        for text in [says] if isinstance(says, str) else says:
            assert str(text) in result.error, (text, result.error)
        return result


@pytest.fixture
def satin(tmp_path):
    return Satin(tmp_path)


@pytest.fixture
def noise():
    """noise(shape, type=np.uint8, seed=1): reproducible pixels."""

    def make(shape, dtype=np.uint8, seed=1):
        return np.random.default_rng(seed).integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)

    return make


@pytest.fixture
def picture(tmp_path, noise):
    """in.png, 20 x 12, RGB."""
    return png_file.write(tmp_path / "in.png", noise((12, 20, 3)))


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file())
