"""The nodes of samples/comfyui, called as ComfyUI does: on batches of floats, by the names of INPUT_TYPES."""
import importlib.util
import sys
import types

import numpy as np
import pytest

import satin
from conftest import ROOT


class Tensor(np.ndarray):
    """What the nodes use of PyTorch's tensors."""

    def cpu(self):
        return self


def tensor(array):
    return np.asarray(array, np.float32).view(Tensor)


@pytest.fixture
def nodes(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(from_numpy=tensor))
    path = ROOT / "samples" / "comfyui" / "__init__.py"
    spec = importlib.util.spec_from_file_location("satin_comfyui", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.NODE_CLASS_MAPPINGS


def call(node, **inputs):
    """Runs a node with its defaults, which ComfyUI fills in, and checks what it declares."""
    types_ = node.INPUT_TYPES()
    for name, (kind, *options) in types_["required"].items():
        if options and "default" in options[0]:
            inputs.setdefault(name, options[0]["default"])
        elif isinstance(kind, list):
            inputs.setdefault(name, kind[0])
    assert set(types_["required"]) <= set(inputs) <= set(types_["required"]) | set(types_["optional"])
    result = getattr(node(), node.FUNCTION)(**inputs)
    assert len(result) == len(node.RETURN_TYPES) and result[0].dtype == np.float32
    return np.asarray(result[0])


@pytest.fixture
def batch(random):
    return random.integers(0, 65536, (3, 40, 50, 3), np.uint16)


def light(codes):
    return tensor(codes / 65535)


def test_depth_of_field_of_a_batch(nodes, batch, random):
    depth = random.integers(0, 2, (3, 5, 5)).repeat(8, 1).repeat(10, 2) * 60000
    result = call(nodes["SatinDepthOfField"], image=light(batch), depth=light(np.stack([depth] * 3, -1)), strength=9.0)
    for frame in range(3):
        one = satin.dof(batch[frame], depth=depth[frame].astype(np.uint16), strength=9, focus=0.5, highlights=4)
        np.testing.assert_array_equal(np.rint(result[frame] * 65535), one)


def test_blur_by_a_map_and_a_mask(nodes, batch, random):
    radii, mask = random.integers(0, 65536, (2, 3, 40, 50), np.uint16)
    result = call(nodes["SatinBlurByMap"], image=light(batch), radius_map=light(radii), mask=light(mask), radius_max=7.0)
    for frame in range(3):
        one = satin.blur(batch[frame], radius_map=radii[frame], mask=mask[frame], radius_max=7)
        np.testing.assert_array_equal(np.rint(result[frame] * 65535), one)


def test_median_where_one_mask_is_for_one_picture(nodes, batch):
    mask = np.zeros((40, 50))
    mask[:, 25:] = 1
    result = call(nodes["SatinMedian"], image=light(batch[:1]), mask=tensor(mask), percent=20.0)
    expected = satin.median(batch[0], 3, percent=20)
    np.testing.assert_array_equal(np.rint(result[0] * 65535)[:, 25:], expected[:, 25:])
    np.testing.assert_array_equal(np.rint(result[0] * 65535)[:, :25], batch[0][:, :25])


def test_threshold_is_a_mask(nodes, batch):
    result = call(nodes["SatinThreshold"], image=light(batch), method="sauvola")
    assert result.shape == (3, 40, 50) and set(np.unique(result)) == {0, 1}
    np.testing.assert_array_equal(result[1] * 255, satin.threshold(batch[1], method="sauvola", window=31))
