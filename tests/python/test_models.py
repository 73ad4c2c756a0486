"""satin.depth: depth of arrays by a model. Graphs are written here; ONNX Runtime is PyPI's package onnxruntime."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import satin

sys.path.append(str(Path(__file__).parents[1] / "cli"))
import onnx_file  # noqa: E402

HAS_RUNTIME = importlib.util.find_spec("onnxruntime") is not None or bool(os.environ.get("SATIN_ONNXRUNTIME"))
needs_runtime = pytest.mark.skipif(not HAS_RUNTIME, reason="no ONNX Runtime")


@pytest.fixture
def model(tmp_path):
    (tmp_path / "toy.json").write_text(json.dumps({"mean": [0, 0, 0], "deviation": [1, 1, 1]}))
    (tmp_path / "toy.onnx").write_bytes(onnx_file.luminance(24, 32))
    return tmp_path / "toy.onnx"


@pytest.fixture
def image(random):
    return random.integers(0, 256, (24, 32, 3), np.uint8)


@needs_runtime
def test_depth_of_an_array(model, image):
    wanted = image / 255 @ onnx_file.LUMINANCE
    depth = satin.depth(image, model)
    assert depth.dtype == np.float32 and depth.shape == (24, 32) and np.allclose(depth, wanted, atol=1e-6)
    assert (satin.depth(image[::-1, ::-1], str(model)) == satin.depth(np.ascontiguousarray(image[::-1, ::-1]), model)).all()
    linear = np.where(image <= 10, image / 255 / 12.92, ((image / 255 + 0.055) / 1.055) ** 2.4)
    assert np.allclose(satin.depth(linear.astype(np.float32), model), wanted, atol=1e-6)
    large = image.repeat(4, 0).repeat(4, 1)
    assert satin.depth(large, model).shape == (24, 32)
    assert satin.dof(large, depth=satin.depth(large, model), strength="5%").shape == large.shape


@needs_runtime
def test_a_model_stays_open(model, image):
    depth, told = satin.depth(image, model), model.stat()
    model.write_bytes(b"x" * told.st_size)  # were it read again, it would be refused
    os.utime(model, ns=(told.st_atime_ns, told.st_mtime_ns))
    assert (satin.depth(image, model) == depth).all()
    os.utime(model)
    with pytest.raises(OSError, match="toy.onnx"):
        satin.depth(image, model)


@needs_runtime
def test_depth_in_a_batch_is_that_of_the_array(model, image, tmp_path, monkeypatch):
    satin.write(tmp_path / "in.png", image)
    monkeypatch.setenv("SATIN_DEPTH_MODEL", str(model))
    result = satin.batch("dof depth-from=model strength=9%", tmp_path / "in.png", tmp_path / "out.png", depth_out=tmp_path / "depth.tif")
    assert result.exit_code == 0
    depth = satin.depth(image)
    assert (satin.read(tmp_path / "depth.tif") == depth).all()
    assert (satin.read(tmp_path / "out.png") == satin.dof(image, depth=depth, strength="9%")).all()
    with pytest.raises(FileNotFoundError, match="none.onnx"):
        satin.batch("dof depth-from=model", tmp_path / "in.png", tmp_path / "no.png", model=tmp_path / "none.onnx")


@needs_runtime
def test_errors_of_models(model, image, monkeypatch):
    monkeypatch.delenv("SATIN_DEPTH_MODEL", raising=False)
    with pytest.raises(ValueError, match="model="):
        satin.depth(image)
    with pytest.raises(OSError, match="none.onnx"):
        satin.depth(image, "none.onnx")
    with pytest.raises(RuntimeError, match="more memory"):
        satin.depth(image, model, memory_limit=100)
    model.with_suffix(".json").write_text('{"output": "mask"}')
    with pytest.raises(ValueError, match="makes masks"):
        satin.depth(image, model)


def test_a_missing_runtime_is_named(model):
    code = "import satin, numpy; satin.depth(numpy.zeros((4, 4, 3), numpy.uint8), %r)" % str(model)
    result = subprocess.run([sys.executable, "-c", code], env={**os.environ, "SATIN_ONNXRUNTIME": "/nowhere"}, capture_output=True, text=True)
    assert "RuntimeError" in result.stderr or "DeviceError" in result.stderr, result.stderr
    assert "pip install --target DIR onnxruntime" in result.stderr
