from pathlib import Path

import numpy as np
import pytest

import satin

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture
def random():
    return np.random.default_rng(20250711)


@pytest.fixture
def page():
    """A real document as grey."""
    path = DATA / "document" / "2JohnC1V3.ppm"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    from PIL import Image

    return np.asarray(Image.open(path).convert("L"))


@pytest.fixture
def photo():
    """A real photo in colour, cut to a size that is quick."""
    path = DATA / "depth" / "motorcycle_left.png"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    from PIL import Image

    return np.asarray(Image.open(path).convert("RGB"))[:301, :403]


def has_cuda():
    return any(device["usable"] and device["id"].startswith("cuda:") for device in satin.devices())
