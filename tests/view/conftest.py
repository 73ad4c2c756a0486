import os
import shlex
import subprocess
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from browser import Page, open_browser

BINARY = str(Path(os.environ.get("SATIN_BINARY", "build/satin")).resolve())
MISSING = 3
WIDTH, HEIGHT = 860, 680  # larger than the view


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
        return self.url.split("/#")[0]

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


@pytest.fixture(scope="module")
def browser():
    opened = open_browser(1000, 640)
    yield opened
    opened.quit()


@pytest.fixture
def photo(tmp_path):
    """Writes photo.png, and depth.png, which is near on the right."""
    x = np.broadcast_to(np.arange(WIDTH), (HEIGHT, WIDTH))
    random = np.random.default_rng(29)
    blocks = random.integers(0, 256, (HEIGHT // 20, WIDTH // 20, 3)).repeat(20, 0).repeat(20, 1)
    noise = random.integers(-20, 20, blocks.shape)
    Image.fromarray(np.clip(blocks + noise, 0, 255).astype(np.uint8)).save(tmp_path / "photo.png")
    Image.fromarray((x * 255 // (WIDTH - 1)).astype(np.uint8)).save(tmp_path / "depth.png")
    return np.asarray(Image.open(tmp_path / "photo.png"))


@pytest.fixture
def page(view, photo, browser):
    """The page of photo.png with dof."""
    started = view("photo.png", "--depth", "depth.png", "--filter", "dof", "-o", "out.png")
    page = Page(browser, started.url)
    page.view = started
    yield page
    assert page.messages() == []
    assert {url.split("/", 3)[2] for url in page.requested()} == {started.origin.split("/")[2]}


def written(page, shell="sh", output="out.png", more=""):
    """The picture that the shown command writes when a shell runs it."""
    command = page.text("command")
    assert command.startswith("satin ")
    line = shlex.quote(BINARY) + command[len("satin") :] + " --overwrite --quiet" + more
    subprocess.run([shell, "-c", line], cwd=page.view.folder, check=True, timeout=60, stdin=subprocess.DEVNULL)
    return np.asarray(Image.open(page.view.folder / output).convert("RGB"))
