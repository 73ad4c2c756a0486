import os
import subprocess
from pathlib import Path

import pytest

BINARY = str(Path(os.environ.get("SATIN_BINARY", "build/satin")).resolve())
MISSING = 3


def pytest_configure(config):
    if not os.access(BINARY, os.X_OK):
        pytest.exit("There is no %s: build it, or set SATIN_BINARY." % BINARY, returncode=2)


class View:
    """`satin view` in a folder, and the address that it printed."""

    def __init__(self, folder, *arguments):
        self.folder = folder
        command = [BINARY, "view", "--no-browser", *map(str, arguments)]
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url and self.process.wait(30) == MISSING:
            pytest.skip("`satin view` is not part of this build: " + self.process.stderr.read())
        assert self.url.startswith("http://127.0.0.1:"), self.url or self.process.stderr.read()

    @property
    def origin(self):
        return self.url.split("/?")[0]

    def end(self):
        self.process.kill()
        self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def view(tmp_path):
    """view(*arguments): starts `satin view` in the test's folder."""
    started = []

    def start(*arguments, folder=tmp_path):
        start.last = View(folder, *arguments)
        started.append(start.last)
        return start.last

    yield start
    for each in started:
        each.end()
