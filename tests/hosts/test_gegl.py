"""Operations of GEGL beside the command: the same bytes, in the same precision and the same light."""
import ctypes
import os
import shutil
import struct
import subprocess
import threading
from ctypes import byref, c_char_p, c_double, c_int, c_void_p
from pathlib import Path

import numpy as np
import pytest

import png_file
from conftest import MODULES
from icc_profile import gamma_profile, with_profile

GEGL = shutil.which("gegl")
pytestmark = pytest.mark.skipif(GEGL is None or not (MODULES / "gegl" / "satin.so").exists(),
                                reason="gegl is not installed, or its headers were not when Satin was built")
HEIGHT, WIDTH = 46, 61
FORMATS = {"u8": b"R'G'B' u8", "u16": b"R'G'B' u16", "float": b"RGB float"}
TYPES = {"u8": np.uint8, "u16": np.uint16, "float": np.float32}


class Rectangle(ctypes.Structure):
    _fields_ = [(name, c_int) for name in ("x", "y", "width", "height")]


class Gegl:
    """GEGL in this process, which starts once; chains of operations as its command parses them."""

    def __init__(self):
        self.gegl = ctypes.CDLL("libgegl-0.4.so.0")
        self.babl = ctypes.CDLL("libbabl-0.1.so.0")
        for library, names in ((self.gegl, ("gegl_node_new", "gegl_node_new_child", "gegl_buffer_new", "gegl_buffer_get_format",
                                            "gegl_buffer_get_extent")),
                               (self.babl, ("babl_format", "babl_format_with_space", "babl_format_get_type"))):
            for name in names:
                getattr(library, name).restype = c_void_p
        self.babl.babl_get_name.restype = self.babl.babl_format_get_encoding.restype = c_char_p
        self.gegl.gegl_init(None, None)

    def buffer(self, array, format):
        height, width = array.shape[:2]
        box = Rectangle(0, 0, width, height)
        format = c_void_p(self.babl.babl_format(format))
        buffer = c_void_p(self.gegl.gegl_buffer_new(byref(box), format))
        self.gegl.gegl_buffer_set(buffer, byref(box), 0, format, c_void_p(np.ascontiguousarray(array).ctypes.data), 0)
        return buffer

    def run(self, source, chain):
        """Array of the result in its own format. The source is a path, or a buffer."""
        graph = c_void_p(self.gegl.gegl_node_new())
        child = lambda *arguments: c_void_p(self.gegl.gegl_node_new_child(graph, b"operation", *arguments, None))
        first = (child(b"gegl:load", b"path", str(source).encode()) if isinstance(source, Path)
                 else child(b"gegl:buffer-source", b"buffer", source))
        result, error = c_void_p(), c_void_p()
        last = child(b"gegl:buffer-sink", b"buffer", byref(result), b"format", None)
        self.gegl.gegl_create_chain(chain.encode(), first, last, c_double(0), 100, b"/", byref(error))
        assert not error, chain
        self.gegl.gegl_node_process(last)
        array = self.array(result)
        self.gegl.g_object_unref(graph)
        self.gegl.g_object_unref(result)
        return array

    def array(self, buffer):
        format = c_void_p(self.gegl.gegl_buffer_get_format(buffer))
        box = Rectangle.from_address(self.gegl.gegl_buffer_get_extent(buffer))
        kind = TYPES[self.babl.babl_get_name(c_void_p(self.babl.babl_format_get_type(format, 0))).decode()]
        channels = self.babl.babl_format_get_n_components(format)
        array = np.empty((box.height, box.width, channels), kind)
        self.gegl.gegl_buffer_get(buffer, byref(box), c_double(1), format, c_void_p(array.ctypes.data), 0, 0)
        return array[:, :, 0] if channels == 1 else array


@pytest.fixture(scope="session")
def gegl():
    folder = subprocess.run(["pkg-config", "--variable=pluginsdir", "gegl-0.4"], stdout=subprocess.PIPE, text=True)
    os.environ["SATIN_THREADS"] = "1"  # of the device that all operations share
    os.environ["GEGL_PATH"] = os.pathsep.join((str(MODULES / "gegl"), folder.stdout.strip()))
    return Gegl()


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A folder with pictures of each type, and side inputs of 8 and 16 bits."""
    folder = tmp_path_factory.mktemp("scene")
    random = np.random.default_rng(3)
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    smooth = 0.5 + 0.35 * np.sin(x / 9)[..., None] * np.cos(y / np.array([7, 11, 5])[:, None, None]).transpose(1, 2, 0)
    picture = np.clip(smooth + random.normal(0, 0.08, smooth.shape), 0, 1)
    png_file.write(folder / "u8.png", (picture * 255 + 0.5).astype(np.uint8))
    png_file.write(folder / "u16.png", (picture * 65535 + 0.5).astype(np.uint16))
    np.save(folder / "float.npy", picture.astype(np.float32))
    png_file.write(folder / "map.png", (np.where(x + y > 50, 1, x / WIDTH) * 255).astype(np.uint8))
    png_file.write(folder / "map16.png", (np.where(x > 25, 0.8, y / HEIGHT) * 65535).astype(np.uint16))
    png_file.write(folder / "mask.png", np.where((x - 30) ** 2 + (y - 20) ** 2 < 200, 255, y).astype(np.uint8))
    return folder


# Settings as the command and GEGL both write them, and the side inputs of the pads in order.
SETTINGS = [
    ("blur", {"radius": 12}, {}),
    ("blur", {"sigma": 2.5, "border": "reflect"}, {}),
    ("blur", {"radius-max": 9.25, "radius-min": 0.5}, {"radius-map": "map.png", "mask": "mask.png"}),
    ("median", {"radius": 3, "percent": 30}, {}),
    ("unsharp", {"sigma": 3, "amount": 0.8, "space": "encoded"}, {}),
    ("smooth", {"sigma": 4}, {"mask": "mask.png"}),
    ("edge-smooth", {"sigma-s": 8, "sigma-r": 0.3}, {}),
    ("guided", {"radius": 4, "eps": 0.004}, {"guide": "u16.png"}),
    ("dof", {"strength": 9, "focus": 0.25}, {"depth": "map16.png"}),
    ("tilt-shift", {"radius": 7.5, "place": "30,10", "angle": 20}, {}),
    ("threshold", {"method": "sauvola", "window": 15, "invert": "true"}, {}),
    ("dilate", {"radius": 2}, {"mask": "mask.png"}),
    ("normalize", {"window": 21}, {}),
]


def chain_of(scene, name, settings, sides):
    words = ["satin:" + name, *("%s=%s" % item for item in settings.items())]
    words += ["aux%s=[ gegl:load path=%s ]" % (number, scene / file) for number, file in zip(("", "2"), sides.values())]
    return " ".join(words)


def by_command(satin, scene, picture, name, settings, sides):
    result = satin.folder / ("out" + (".npy" if picture.suffix == ".npy" else ".png"))
    options = [option for key, value in settings.items() if value != "false"
               for option in (["--" + key] if value == "true" else ["--%s=%s" % (key, value)])]
    options += [option for key, file in sides.items() for option in ("--" + key, scene / file)]
    satin.good(name, picture, "-o", result, "--overwrite", "--quiet", *options)
    return np.load(result) if picture.suffix == ".npy" else png_file.read(result)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("name, settings, sides", SETTINGS, ids=[one[0] for one in SETTINGS])
def test_operations_give_the_bytes_of_the_command(gegl, satin, scene, capfd, kind, name, settings, sides):
    picture = scene / (kind + (".npy" if kind == "float" else ".png"))
    source = gegl.buffer(np.load(picture), FORMATS[kind]) if kind == "float" else picture
    expected = by_command(satin, scene, picture, name, settings, sides)
    result = gegl.run(source, chain_of(scene, name, settings, sides))
    assert "WARNING" not in capfd.readouterr().err
    assert result.dtype == expected.dtype and result.shape == expected.shape
    assert (result == expected).all(), "%d of %d values differ" % ((result != expected).sum(), result.size)
    original = np.load(picture) if kind == "float" else png_file.read(picture)
    assert result.shape != original.shape or (result != original).mean() > 0.2


def with_chunk(path, name, body):
    data = path.read_bytes()
    start = 33  # signature and IHDR
    chunk = struct.pack(">I", len(body)) + name + body + struct.pack(">I", png_file.zlib.crc32(name + body))
    return data[:start] + chunk + data[start:]


@pytest.mark.parametrize("kind", ["u8", "u16"])
@pytest.mark.parametrize("gamma", [45455, 55556, 100000, 31415])
def test_gama_of_a_file_decides_linear_light(gegl, satin, scene, kind, gamma):
    own = satin.folder / "own.png"
    own.write_bytes(with_chunk(scene / (kind + ".png"), b"gAMA", struct.pack(">I", gamma)))
    expected = by_command(satin, scene, own, "blur", {"radius": 5}, {})
    assert (gegl.run(own, "satin:blur radius=5") == expected).all()
    assert (expected != by_command(satin, scene, scene / (kind + ".png"), "blur", {"radius": 5}, {})).any()


@pytest.mark.parametrize("kind", ["u8", "u16"])
def test_a_profile_decides_linear_light(gegl, satin, scene, kind):
    own = satin.folder / "own.png"
    own.write_bytes(with_profile(png_file.read(scene / (kind + ".png")), gamma_profile(1.80078125)))
    expected = by_command(satin, scene, own, "blur", {"radius": 5}, {})
    assert (gegl.run(own, "satin:blur radius=5") == expected).all()


def test_grey_and_alpha_keep_their_channels(gegl, satin, scene, noise):
    for channels in (1, 2, 4):
        own = png_file.write(satin.folder / "own.png", noise((30, 40, channels), np.uint16))
        expected = by_command(satin, scene, own, "blur", {"radius": 3}, {})
        assert (gegl.run(own, "satin:blur radius=3") == expected).all()


def test_linear_integers_are_filtered_as_light(gegl, noise):
    values = noise((20, 30, 3), np.uint16)
    integers = gegl.run(gegl.buffer(values, b"RGB u16"), "satin:blur radius=4")
    floats = gegl.run(gegl.buffer((values / np.float32(65535)).astype(np.float32), b"RGB float"), "satin:blur radius=4")
    assert np.allclose(integers, floats, atol=1e-6)


def test_maps_may_have_another_scale(gegl, satin, scene):
    depth = png_file.write(satin.folder / "depth.png", png_file.read(scene / "map16.png")[::2, ::2])
    expected = by_command(satin, scene, scene / "u8.png", "dof", {"strength": 9}, {"depth": depth})
    assert (gegl.run(scene / "u8.png", "satin:dof strength=9 aux=[ gegl:load path=%s ]" % depth) == expected).all()


@pytest.mark.parametrize("chain, sentence", [
    ("satin:blur radius=5 sigma=2", "sigma"),
    ("satin:tilt-shift place=left", "place"),
    ("satin:dof strength=4", "aux (depth) is not connected"),
    ("satin:dof strength=4 aux=[ gegl:load path=SMALL ]", "aux (depth)"),
])
def test_a_refusal_is_a_sentence_and_the_picture_stays(gegl, satin, scene, noise, capfd, chain, sentence):
    small = png_file.write(satin.folder / "small.png", noise((9, 40)))
    result = gegl.run(scene / "u8.png", chain.replace("SMALL", str(small)))
    error = capfd.readouterr().err
    assert chain.split()[0] + ": " in error and sentence in error, error
    assert (result == png_file.read(scene / "u8.png")).all()


def test_two_threads_share_one_device_of_one_thread(gegl, scene):
    chains = ["satin:blur radius=9", "satin:median radius=4"]
    expected = [gegl.run(scene / "u16.png", chain) for chain in chains]
    right = []

    def work(index):
        for _ in range(10):
            right.append((gegl.run(scene / "u16.png", chains[index]) == expected[index]).all())

    threads = [threading.Thread(target=work, args=(index,)) for index in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 20


def test_the_command_of_gegl(gegl, satin, scene):
    run = lambda *arguments: subprocess.run([GEGL, *arguments], cwd=scene, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
    about = run("--info", "satin:dof").stdout
    assert "aux: depth; aux2: mask" in about and "not set by default (-1 means" in about and "e+30 means" not in about
    known = run("--list-all").stdout.split()
    assert {"satin:" + name for name, _, _ in SETTINGS} <= set(known)
    assert not {"satin:resize", "satin:crop", "satin:integral", "satin:stats"} & set(known)
    run("u16.png", "-o", "line.png", "--", "satin:blur", "radius=12")
    expected = by_command(satin, scene, scene / "u16.png", "blur", {"radius": 12}, {})
    assert (png_file.read(scene / "line.png")[..., :3] == expected).all()
    endless = run("-o", "none.png", "--", "gegl:color", "satin:blur", "radius=3", "gegl:crop", "width=9", "height=9")
    assert "satin:blur: " in endless.stderr and "gegl:crop" in endless.stderr
