"""Depth and masks by a model: satin depth, dof --depth-from model, mask --from-model. Graphs are written here (onnx_file.py);
ONNX Runtime is found by SATIN_ONNXRUNTIME, and tests that run a graph are skipped without it."""
import json
import signal
import time

import numpy as np
import pytest

import onnx_file as onnx
import pfm_file
import png_file
from conftest import FULL_CODECS, files_below
from test_interrupt import catches, wait_until
from test_tone import gamma_profile, with_profile

pytestmark = pytest.mark.skipif(not FULL_CODECS, reason="depth is written as TIFF")

MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
PLAIN = {"mean": [0, 0, 0], "deviation": [1, 1, 1]}


@pytest.fixture
def runtime(satin):
    found = json.loads(satin.good("devices", "--json").stdout)["onnxruntime"]
    if not found["version"]:
        pytest.skip("no ONNX Runtime: " + found["reason"])
    return found


@pytest.fixture
def write(satin):
    """write(name, graph, **description): a model, and its description if there is one."""

    def made(name, graph, **description):
        (satin.folder / name).write_bytes(graph)
        if description:
            (satin.folder / name).with_suffix(".json").write_text(json.dumps(description))
        return name

    return made


def image(*sides, kind=onnx.FLOAT):
    return [onnx.value("image", sides, kind)]


def values_of(path):
    return np.squeeze(np.load(path))


def weighted(picture, mean=MEAN, deviation=DEVIATION):
    return ((picture / 255 - mean) / deviation) @ onnx.LUMINANCE.astype(float)


def test_what_is_assumed_without_a_description(satin, runtime, write, picture):
    model = write("toy.onnx", onnx.luminance(12, 20))
    result = satin.good("depth", picture, "-o", "depth.npy", "--model", model)
    assert "toy.json" in result.error and "inverse depth" in result.error and "0.485, 0.456, 0.406" in result.error
    assert np.allclose(values_of(satin.folder / "depth.npy"), weighted(png_file.read(picture)), atol=2e-6)
    report = json.loads(satin.good("depth", picture, "-o", "depth.png", "--model", model, "--json").stdout)["files"][0]
    depth = report["photo"]["depth"]
    assert depth["kind"] == "disparity" and depth["format"] == "model" and "unit" not in depth
    values, codes = values_of(satin.folder / "depth.npy"), png_file.read(satin.folder / "depth.png")
    assert codes.dtype == np.uint16 and np.isclose(depth["lowest"], values.min()) and np.isclose(depth["highest"], values.max())
    assert np.abs(codes - 65535 * (values - values.min()) / np.ptp(values)).max() <= 0.51


@pytest.mark.parametrize("sides, described, size", [
    (("height", "width"), {"size": 28, "multiple": 14}, (28, 42)),
    (("height", "width"), {"size": 30, "multiple": 14}, (40, 60)),  # 42 x 42: no more than the picture has
    (("32*rows", "32*columns"), {"size": 64}, (64, 96)),
    (("height", "width"), {"size": [48, 16]}, (32, 48)),
    (("height", 16), {"size": 16, "multiple": 8}, (16, 24)),
    ((8, 24), {}, (16, 24)),
])  # fmt: skip
def test_sizes_of_the_input(satin, runtime, write, sides, described, size):
    """Depth has the aspect of the picture, whatever that of the input is, so that dof accepts it."""
    y, x = np.mgrid[0:40, 0:60]
    png_file.write(satin.folder / "in.png", np.dstack([x * 2 + y, x * 2 + y, x * 2 + y]).astype(np.uint8))
    model = write("toy.onnx", onnx.luminance(*sides), output="inverse depth", **described)
    satin.good("depth", "in.png", "-o", "depth.npy", "--model", model)
    depth = values_of(satin.folder / "depth.npy")
    assert depth.shape == size and (np.diff(depth, axis=1) >= 0).all() and (np.diff(depth, axis=0) >= 0).all()
    rows, columns = np.linalg.lstsq(np.c_[np.mgrid[0:size[0], 0:size[1]].reshape(2, -1).T, np.ones(depth.size)], depth.ravel(), rcond=None)[0][:2]
    assert columns / rows == pytest.approx(2, abs=0.2)
    satin.good("dof", "in.png", "-o", "out.png", "--depth-from", "model", "--model", model, "--focus", "nearest")


def test_codes_side_by_side_and_metres(satin, runtime, write, picture):
    nodes = [onnx.node("Cast", ["image"], ["floats"], to=onnx.FLOAT),
             onnx.node("ReduceMean", ["floats"], ["depth"], axes=[3], keepdims=0)]  # fmt: skip
    graph = onnx.model(nodes, image(1, 12, 20, 3, kind=onnx.UINT8), [onnx.value("depth", [1, 12, 20])])
    model = write("toy.onnx", graph, output="depth")
    report = json.loads(satin.good("depth", picture, "-o", "depth.pfm", "--model", model, "--json").stdout)
    assert report["files"][0]["photo"]["depth"]["unit"] == "m"
    assert np.allclose(pfm_file.read(satin.folder / "depth.pfm")[..., 0], png_file.read(picture).mean(2), atol=1e-4)
    write("toy.onnx", graph, output="depth", mean=[0, 0, 0])
    satin.bad(2, "depth", picture, "-o", "other.pfm", "--model", model, says=["u8", "mean"])


def test_grey_pictures_alpha_and_linear_light(satin, runtime, write, noise):
    grey = noise((12, 20))
    model = write("toy.onnx", onnx.luminance(12, 20), **PLAIN)
    png_file.write(satin.folder / "grey.png", grey)
    png_file.write(satin.folder / "alpha.png", np.dstack([grey, grey, grey, np.full_like(grey, 255)]))
    png_file.write(satin.folder / "deep.png", grey.astype(np.uint16) * 257)
    linear = np.where(grey <= 10, grey / 255 / 12.92, ((grey / 255 + 0.055) / 1.055) ** 2.4)
    pfm_file.write(satin.folder / "light.pfm", linear)
    for name in ("grey.png", "alpha.png", "deep.png", "light.pfm"):
        satin.good("depth", name, "-o", "depth.npy", "--model", model, "--overwrite")
        assert np.allclose(values_of(satin.folder / "depth.npy"), grey / 255, atol=1e-6), name


def test_pictures_are_upright_and_in_srgb(satin, runtime, write, noise):
    grey = noise((12, 20))
    model = write("toy.onnx", onnx.luminance(12, 20), **PLAIN)
    (satin.folder / "linear.png").write_bytes(with_profile(grey[:, :, None].repeat(3, 2), gamma_profile(1)))
    satin.good("depth", "linear.png", "-o", "linear.npy", "--model", model)
    light = grey / 255
    codes = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    assert np.abs(values_of(satin.folder / "linear.npy") - codes).max() < 2 / 255
    made = pytest.importorskip("photo_file")
    for orientation in (1, 6):
        (satin.folder / "in.jpg").write_bytes(made.jpeg(made.turned(grey, orientation), orientation))
        satin.good("depth", "in.jpg", "-o", "%d.npy" % orientation, "--model", model)
    # Both are JPEG of the same pixels, turned.
    assert np.abs(values_of(satin.folder / "1.npy") - values_of(satin.folder / "6.npy")).max() < 0.1


def test_an_output_by_its_name(satin, runtime, write, picture):
    nodes = [onnx.node("ReduceMean", ["image"], ["wrong"], axes=[1], keepdims=0), onnx.node("ReduceMax", ["image"], ["depth"], axes=[1], keepdims=0)]
    graph = onnx.model(nodes, image(1, 3, 12, 20), [onnx.value("wrong", [1, 12, 20]), onnx.value("depth", [1, 12, 20])])
    satin.good("depth", picture, "-o", "mean.npy", "--model", write("one.onnx", graph, **PLAIN))
    satin.good("depth", picture, "-o", "max.npy", "--model", write("two.onnx", graph, output_name="depth", **PLAIN))
    pixels = png_file.read(picture) / 255
    assert np.allclose(values_of(satin.folder / "mean.npy"), pixels.mean(2), atol=1e-6)
    assert np.allclose(values_of(satin.folder / "max.npy"), pixels.max(2), atol=1e-6)
    satin.bad(2, "depth", picture, "-o", "no.tif", "--model", write("three.onnx", graph, output_name="deep"), says=["wrong of f32", "'deep'"])


def test_what_does_not_fit(satin, runtime, write, picture):
    flat = [onnx.value("depth", [1])]
    one = [onnx.node("ReduceMean", ["image"], ["depth"], axes=[0, 1, 2, 3], keepdims=0)]
    refused = {
        "four.onnx": (onnx.model(one, image(1, 4, 8, 8), flat), ["1 x 4 x 8 x 8", "1 x 3 x height x width"]),
        "pair.onnx": (onnx.model([onnx.node("Add", ["image", "other"], ["depth"])], image(1, 3, 8, 8) + [onnx.value("other", [1])], [onnx.value("depth", [1, 3, 8, 8])]), ["other of f32"]),
        "whole.onnx": (onnx.model(one, image(1, 3, 8, 8), [onnx.value("depth", [])]), ["One plane of f32"]),
        "integers.onnx": (onnx.model([onnx.node("Shape", ["image"], ["depth"])], image(1, 3, 8, 8), [onnx.value("depth", [4], onnx.INT64)]), ["f32"]),
    }  # fmt: skip
    for name, (graph, says) in refused.items():
        satin.bad(2, "depth", picture, "-o", "out.tif", "--model", write(name, graph, output="inverse depth"), says=[name, *says])
    for description, says in ({"sise": 4}, ["sise", "'size'"]), ({"size": 0}, ["size", "0"]), ({"layout": "HWC"}, ["NHWC"]), ({"size": [9, 9]}, ["8 x 8"]):
        satin.bad(2, "depth", picture, "-o", "out.tif", "--model", write("toy.onnx", onnx.luminance(8, 8), **description), says=says)
    (satin.folder / "toy.json").write_text("size: 8")
    satin.bad(1, "depth", picture, "-o", "out.tif", "--model", "toy.onnx", says=["toy.json", "JSON"])
    assert not (satin.folder / "out.tif").exists()


def test_what_is_no_model_or_fails(satin, runtime, write, picture):
    satin.bad(1, "depth", picture, "-o", "out.tif", "--model", write("text.onnx", b"no protobuf"), says=["text.onnx", "ONNX file"])
    satin.bad(1, "depth", picture, "-o", "out.tif", "--model", "none.onnx", says=["none.onnx"])
    satin.bad(2, "depth", picture, "-o", "out.tif", says=["--model", "SATIN_DEPTH_MODEL"])
    nodes = [onnx.node("Reshape", ["image", "shape"], ["depth"])]
    graph = onnx.model(nodes, image(1, 3, "height", "width"), [onnx.value("depth", [7, 11])], [onnx.constant("shape", np.array([7, 11]))])
    satin.bad(1, "depth", picture, "-o", "out.tif", "--model", write("fails.onnx", graph, size=32), says=["fails.onnx", "x 42", "multiple"])
    satin.environment["SATIN_ONNXRUNTIME"] = "nowhere"
    satin.bad(3, "depth", picture, "-o", "out.tif", "--model", "text.onnx", says=["pip install --target DIR onnxruntime"])
    assert json.loads(satin.good("devices", "--json").stdout)["onnxruntime"]["version"] == ""
    assert files_below(satin.folder) == ["fails.json", "fails.onnx", "in.png", "text.onnx"]


@pytest.fixture
def scene(satin):
    """A bright square on a dark ground, with a model that takes bright for near, of a third of its size."""
    pixels = np.full((48, 66, 3), 40, np.uint8)
    pixels[14:37, 20:50] = 200
    pixels[::2, ::3] += 9
    return png_file.write(satin.folder / "in.png", pixels)


LENS = ("--strength", "8%", "--focus", "nearest")


@pytest.mark.parametrize("output", ["inverse depth", "depth"])
def test_depth_of_field_is_that_of_the_depth_file(satin, runtime, write, scene, output):
    metric = output == "depth"
    graph = onnx.luminance(16, 22)
    model = write("toy.onnx", graph, output=output, **PLAIN)
    report = satin.good("dof", scene, "-o", "model.png", *LENS, "--depth-from", "model", "--model", model, "--depth-out", "out.tif", "--json")
    assert json.loads(report.stdout)["files"][0]["photo"]["depth"]["place"].endswith("toy.onnx")
    satin.good("depth", scene, "-o", "depth.tif", "--model", model)
    assert (satin.folder / "out.tif").read_bytes() == (satin.folder / "depth.tif").read_bytes()
    satin.good("dof", scene, "-o", "file.png", *LENS, "--depth", "depth.tif", "--depth-kind", "depth" if metric else "disparity")
    assert (satin.folder / "model.png").read_bytes() == (satin.folder / "file.png").read_bytes()
    assert (png_file.read(satin.folder / "model.png") != png_file.read(scene)).any()
    satin.environment["SATIN_DEPTH_MODEL"] = model
    satin.good("run", "crop box=6,6,54,36 | dof depth-from=model strength=8%", scene, "-o", "cropped.png")
    satin.good("dof", scene, "-o", "series_{index}.png", "--depth-from", "model", "--strength", "2%,8%", "--focus", "nearest")
    assert (satin.folder / "series_2.png").read_bytes() == (satin.folder / "model.png").read_bytes()


def test_combinations_that_are_refused(satin, runtime, write, scene):
    model = ("--model", write("toy.onnx", onnx.luminance(16, 22), **PLAIN))
    satin.bad(2, "dof", scene, "-o", "out.jpg", "--depth-from", "model", *model, "--keep-depth", says="--depth-out")
    satin.bad(2, "run", "dof depth-from=model | dof depth-from=photo", scene, "-o", "out.png", *model, says="one --depth-from")
    satin.bad(2, "dof", scene, "-o", "out.png", "--depth-from", "model", "--depth", scene, *model, says="leave out --depth")
    satin.bad(2, "depth", scene, "-o", "out.jpg", *model, says=[".tif", "out.jpg"])
    satin.bad(2, "depth", scene, "--in-place", *model, says="--in-place")
    satin.bad(2, "mask", scene, "-o", "mask.png", "--from-model", "toy.onnx", says=["no mask", '"mask"'])
    mask = write("mask.onnx", onnx.luminance(16, 22), output="mask", **PLAIN)
    satin.bad(2, "dof", scene, "-o", "out.png", "--depth-from", "model", "--model", mask, says=["mask.onnx", "no depth"])
    satin.bad(2, "mask", scene, "--in-place", "--from-model", mask, says="the photographs would be lost")


def test_a_mask_follows_the_edges_of_the_picture(satin, runtime, write):
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:, 37:] = 255  # the 16 samples of a row change within the one over 36 to 39
    png_file.write(satin.folder / "in.png", pixels)
    model = write("mask.onnx", onnx.luminance(16, 16), output="mask", **PLAIN)
    satin.good("mask", "in.png", "-o", "mask.png", "--from-model", model)
    mask = png_file.read(satin.folder / "mask.png")
    assert mask.shape == (64, 64) and mask.dtype == np.uint8
    assert (mask[:, :37] < 64).all() and (mask[:, 37:] > 191).all()
    satin.good("mask", "in.png", "-o", "grown.png", "--from-model", model, "--grow", "4")
    assert (png_file.read(satin.folder / "grown.png")[:, 34:] > 191).all()
    half = write("half.onnx", onnx.luminance(16, 16), output="mask", stretch=True, mean=[0, 0, 0], deviation=[4, 4, 4])
    satin.good("mask", "in.png", "-o", "half.png", "--from-model", half)
    assert (png_file.read(satin.folder / "half.png") == mask).all()


def test_a_folder_and_what_resuming_notices(satin, runtime, write, noise):
    (satin.folder / "in").mkdir()
    for i in range(6):
        png_file.write(satin.folder / "in" / ("%d.png" % i), noise((30 + i, 40, 3), seed=i))
    model = write("toy.onnx", onnx.luminance(16, 16), **PLAIN)
    line = ("depth", "in", "-o", "out", "--model", model, "--resume", "--json")
    assert json.loads(satin.good(*line).stdout)["summary"]["done"] == 6
    assert files_below(satin.folder / "out") == [".satin-manifest", *("%d.tif" % i for i in range(6))]
    assert json.loads(satin.good(*line).stdout)["summary"]["done"] == 0
    write(model, onnx.luminance(16, 16), mean=[0, 0, 0], deviation=[2, 2, 2])
    assert json.loads(satin.good(*line).stdout)["summary"]["done"] == 6
    single = satin.good("depth", "in/5.png", "-o", "one.tif", "--model", model)
    assert not single.error and (satin.folder / "one.tif").read_bytes() == (satin.folder / "out/5.tif").read_bytes()


def matrices(count, side=512):
    """A graph of that many products of matrices, which ends as soon as one of them is done."""
    nodes = [onnx.node("Resize", ["image", "", "", "sizes"], ["m0"])]
    nodes += [onnx.node("MatMul", ["m%d" % i, "weights"], ["m%d" % (i + 1)]) for i in range(count)]
    nodes.append(onnx.node("ReduceMean", ["m%d" % count], ["depth"], axes=[1], keepdims=0))
    constants = [onnx.constant("weights", np.full((side, side), 1 / side, np.float32)), onnx.constant("sizes", np.array([1, 3, side, side]))]
    return onnx.model(nodes, image(1, 3, 8, 8), [onnx.value("depth", [1, side, side])], constants)


def test_memory_and_ctrl_c(satin, runtime, write, picture):
    model = write("slow.onnx", matrices(1500), **PLAIN)
    satin.bad(3, "depth", picture, "-o", "out.tif", "--model", model, "--memory-limit", "3M", says=["slow.onnx", "3145728", "--memory-limit"])
    process = satin.start("depth", picture, "-o", "out.tif", "--model", model, "--threads", "1")
    wait_until(lambda: catches(process, signal.SIGINT))
    time.sleep(0.5)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130 and time.monotonic() - begun < 5
    assert not (satin.folder / "out.tif").exists()
