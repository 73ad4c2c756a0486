"""Frames through frei0r plug-ins in ffmpeg, in melt and by the entry points, beside the command's bytes."""
import ctypes
import os
import re
import shutil
import subprocess
import threading
import zlib

import numpy as np
import pytest

import png_file
from conftest import MODULES

PLUGINS = MODULES / "frei0r"
pytestmark = pytest.mark.skipif(not PLUGINS.is_dir(), reason="the plug-ins are not built")
needs_ffmpeg = pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is missing")
needs_melt = pytest.mark.skipif(not shutil.which("melt"), reason="melt is missing")

# A filter with its settings, for the plug-in and for the command.
SETTINGS = [
    ("blur", {"radius": "6.5x3", "border": "clamp"}),
    ("median", {"radius": "4", "percent": "30"}),
    ("unsharp", {"amount": "1.5", "sigma": "2.5", "threshold": "0.02"}),
    ("smooth", {"sigma": "5"}),
    ("edge-smooth", {"sigma-s": "20", "sigma-r": "0.3", "iterations": "2"}),
    ("guided", {"radius": "5", "eps": "0.01", "border": "reflect"}),
    ("dof", {"strength": "12", "focus": "0.4", "quality": "high"}),
    ("tilt-shift", {"radius": "6", "place": "40%,60%", "angle": "20", "band": "10"}),
    ("threshold", {"method": "sauvola", "window": "21", "k": "0.1"}),
    ("redact", {"box": "3,4,30,20;50,10,25,31", "colour": "#3080ff", "feather": "4"}),
    ("stretch", {"window": "31", "low": "2"}),
    ("normalize", {"window": "25", "deviation": "0.25"}),
]
FILTERS = [name for name, _ in SETTINGS]


@pytest.fixture
def scene(noise):
    """RGBA of 96 x 64: shapes with noise; alpha is a depth with two steps and a ramp."""
    y, x = np.mgrid[0:64, 0:96]
    frame = np.empty((64, 96, 4), np.uint8)
    frame[..., 0] = 40 + 2 * x
    frame[..., 1] = np.where((x - 48) ** 2 + (y - 32) ** 2 < 400, 220, 3 * y)
    frame[..., 2] = np.where((x // 12 + y // 8) % 2, 30, 200)
    frame[..., :3] += noise((64, 96, 3)) // 8
    frame[..., 3] = np.where((x - 48) ** 2 + (y - 32) ** 2 < 400, 200, np.where(x < 70, 60, x + 20))
    return frame


def opaque(frame):
    return np.dstack([frame[..., :3], np.full(frame.shape[:2], 255, np.uint8)])


def text_of(settings, sign="="):
    return " ".join(name + sign + value for name, value in settings.items())


def options_of(settings):
    return [argument for name, value in settings.items() for argument in ("--" + name, value)]


def by_command(satin, frame, name, *options, **sides):
    """The command's result for a frame, as a frame; sides are files of side inputs by their names."""
    png_file.write(satin.folder / "in.png", frame)
    for side, array in sides.items():
        png_file.write(satin.folder / (side + ".png"), array)
        options += ("--" + side.replace("_", "-"), side + ".png")
    satin.good(name, "in.png", "-o", "out.png", "--overwrite", *options)
    result = png_file.read(satin.folder / "out.png")
    if result.ndim == 2:
        result = np.dstack([result] * 3)
    return result if result.shape[2] == 4 else opaque(result)


def expected(satin, frame, name, settings):
    sides = {"depth": frame[..., 3]} if name == "dof" else {}
    return by_command(satin, frame[..., :3], name, *options_of(settings), **sides)


# --- ffmpeg ---


def escaped(text):
    """For a value of an option, and then for a graph of filters."""
    return re.sub(r"([\\'\[\],;])", r"\\\1", re.sub(r"([\\':])", r"\\\1", text))


@pytest.fixture
def ffmpeg():
    def run(frames, name, controls, before=""):
        """Frames after the plug-in, and what was printed; controls are its texts, separated by '|'."""
        height, width = frames[0].shape[:2]
        graph = before + "frei0r=filter_name=satin-%s:filter_params=%s" % (name, escaped(controls))
        result = subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgba", "-s", "%dx%d" % (width, height), "-r", "25",
             "-i", "-", "-vf", graph, "-f", "rawvideo", "-pix_fmt", "rgba", "-"],
            input=b"".join(frame.tobytes() for frame in frames), env={**os.environ, "FREI0R_PATH": str(PLUGINS)},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        error = result.stderr.decode()
        if result.returncode != 0:
            assert result.returncode > 0, error  # no signal
            return None, error
        return np.frombuffer(result.stdout, np.uint8).reshape(-1, height, width, 4), error

    return run


@needs_ffmpeg
@pytest.mark.parametrize("name, settings", SETTINGS, ids=FILTERS)
def test_ffmpeg_gives_the_commands_bytes(ffmpeg, satin, scene, name, settings):
    frame = scene if name == "dof" else opaque(scene)
    frames, error = ffmpeg([frame, frame], name, text_of(settings))
    assert error == ""
    wanted = expected(satin, frame, name, settings)
    assert np.array_equal(frames[0], wanted) and np.array_equal(frames[1], wanted)
    assert not np.array_equal(wanted, frame)


@needs_ffmpeg
def test_texts_in_their_order(ffmpeg, satin, scene):
    frames, error = ffmpeg([opaque(scene)], "unsharp", "|0.8||3")
    assert error == ""
    assert np.array_equal(frames[0], by_command(satin, scene[..., :3], "unsharp", "--amount", "0.8", "--sigma", "3"))


@needs_ffmpeg
@pytest.mark.parametrize("name", ["blur", "median", "tilt-shift", "redact"])
def test_opacity_is_filtered_as_in_the_command(ffmpeg, satin, scene, name):
    settings = dict(SETTINGS)[name]
    frames, _ = ffmpeg([scene], name, text_of(settings))
    assert np.array_equal(frames[0], by_command(satin, scene, name, *options_of(settings)))


@needs_ffmpeg
def test_alpha_that_is_kept(ffmpeg, satin, scene):
    frames, _ = ffmpeg([scene], "blur", "radius:5 alpha:keep")
    assert np.array_equal(frames[0][..., 3], scene[..., 3])
    assert np.array_equal(frames[0][..., :3], by_command(satin, scene[..., :3], "blur", "--radius", "5")[..., :3])


@needs_ffmpeg
@pytest.mark.parametrize("side, settings", [("mask", {"radius": "7"}), ("radius-map", {"radius-max": "9"})])
def test_alpha_as_a_side_input(ffmpeg, satin, scene, side, settings):
    frames, _ = ffmpeg([scene], "blur", text_of(settings) + " alpha=" + side)
    wanted = by_command(satin, scene[..., :3], "blur", *options_of(settings), **{side.replace("-", "_"): scene[..., 3]})
    assert np.array_equal(frames[0], wanted)


@needs_ffmpeg
def test_depth_merged_into_alpha(satin, scene):
    """As users do it: two files, alphamerge, and a picture."""
    png_file.write(satin.folder / "photo.png", scene[..., :3])
    png_file.write(satin.folder / "depth.png", scene[..., 3])
    subprocess.run(["ffmpeg", "-v", "error", "-i", "photo.png", "-i", "depth.png", "-filter_complex",
                    "[0]format=rgba[a];[1]format=gray[b];[a][b]alphamerge,frei0r=satin-dof:filter_params=strength=12 focus=0.4", "-pix_fmt", "rgba", "far.png"],
                   cwd=satin.folder, env={**os.environ, "FREI0R_PATH": str(PLUGINS)}, check=True, timeout=60)
    wanted = by_command(satin, scene[..., :3], "dof", "--strength", "12", "--focus", "0.4", depth=scene[..., 3])
    assert np.array_equal(png_file.read(satin.folder / "far.png"), wanted)


@needs_ffmpeg
@pytest.mark.parametrize("width, height", [(16, 1), (96, 61), (80, 3)])
def test_heights_that_are_no_multiples_of_8(ffmpeg, satin, scene, width, height):
    frame = opaque(scene)[:height, :width]
    frames, error = ffmpeg([frame], "blur", "radius:3.5")
    assert error == ""
    assert np.array_equal(frames[0], by_command(satin, frame[..., :3], "blur", "--radius", "3.5"))


@needs_ffmpeg
@pytest.mark.parametrize("width", [88, 94])
def test_widths_whose_rows_ffmpeg_pads_are_refused(ffmpeg, scene, width):
    frames, error = ffmpeg([opaque(scene)[:, :width]], "blur", "radius:3")
    assert frames is None
    assert "satin-blur: width %d: must be a multiple of 16" % width in error


@needs_ffmpeg
@pytest.mark.parametrize("name, controls, says", [
    ("blur", "radius:wide", "radius 'wide'"),
    ("blur", "radius:-3", "radius"),
    ("blur", "raduis:3", "raduis"),
    ("blur", "radius:3 sigma:3", "sigma"),
    ("blur", "12", "settings '12'"),
    ("blur", "alpha:depth", "alpha"),
    ("blur", "transfer:rec709", "bt709"),
    ("threshold", "window:8", "window"),
    ("dof", "focus:near", "focus"),
])
def test_bad_settings_are_named_once_and_frames_pass(ffmpeg, scene, name, controls, says):
    frames, error = ffmpeg([scene] * 3, name, controls)
    assert np.array_equal(frames, [scene] * 3)
    lines = [line for line in error.splitlines() if line.startswith("satin-" + name + ": ")]
    assert len(lines) == 1, error
    assert says in lines[0], error


@needs_ffmpeg
def test_missing_depth(ffmpeg, scene):
    frames, error = ffmpeg([opaque(scene)] * 2, "dof", "strength:12")
    assert np.array_equal(frames, [opaque(scene)] * 2)
    assert error.count("satin-dof: Alpha is to be the depth, and is 255 everywhere") == 1, error


@needs_ffmpeg
def test_settings_that_change_between_frames(ffmpeg, satin, scene):
    values = ["radius:2", "radius:7", "radius:bad", "radius:bad", "radius:7", "radius:x", "radius:0"]
    commands = ";".join("%.3f frei0r filter_params '%s'" % (0.04 * i, text) for i, text in enumerate(values) if i)
    frames, error = ffmpeg([opaque(scene)] * len(values), "blur", values[0], "sendcmd=c=%s," % escaped(commands))
    for frame, text in zip(frames, values, strict=True):
        radius = text.split(":")[1]
        radius = radius if radius.isdigit() else "0"
        assert np.array_equal(frame, by_command(satin, scene[..., :3], "blur", "--radius", radius)), text
    assert len(re.findall("^satin-blur: ", error, re.M)) == 2, error


@needs_ffmpeg
def test_focus_that_is_pulled(ffmpeg, satin, scene):
    values = ["0.25", "0.35", "0.75"]
    commands = ";".join("%.3f frei0r filter_params 'focus:%s strength:10'" % (0.04 * i, v) for i, v in enumerate(values))
    frames, error = ffmpeg([scene] * len(values), "dof", "strength:10", "sendcmd=c=%s," % escaped(commands))
    assert error == ""
    for frame, value in zip(frames, values, strict=True):
        options = ("--strength", "10", "--focus", value)
        assert np.array_equal(frame, by_command(satin, scene[..., :3], "dof", *options, depth=scene[..., 3]))


def with_code_points(array, code_points):
    data = png_file.encode(array)
    return data[:33] + png_file._chunk(b"cICP", bytes(code_points)) + data[33:]


@needs_ffmpeg
@pytest.mark.parametrize("name", ["blur", "smooth", "dof", "median"])
def test_light_of_bt709(ffmpeg, satin, scene, name):
    """The command reads the same curve from a PNG file's cICP chunk. Medians have no use for it."""
    settings = dict(SETTINGS)[name]
    frame = scene if name == "dof" else opaque(scene)
    frames, error = ffmpeg([frame], name, text_of(settings) + " transfer=bt709")
    assert error == ""
    (satin.folder / "709.png").write_bytes(with_code_points(frame[..., :3], [1, 1, 0, 1]))
    png_file.write(satin.folder / "depth.png", frame[..., 3])
    depth = ["--depth", "depth.png"] if name == "dof" else []
    satin.good(name, "709.png", "-o", "out.png", *options_of(settings), *depth)
    wanted = png_file.read(satin.folder / "out.png")
    assert np.array_equal(frames[0], opaque(wanted))
    assert np.array_equal(wanted, expected(satin, frame, name, settings)[..., :3]) == (name == "median")


@needs_ffmpeg
def test_light_of_bt709_with_opacity(ffmpeg, satin, scene):
    frames, _ = ffmpeg([scene], "blur", "radius:5 transfer:bt709")
    (satin.folder / "709.png").write_bytes(with_code_points(scene, [1, 1, 0, 1]))
    satin.good("blur", "709.png", "-o", "out.png", "--radius", "5")
    assert np.array_equal(frames[0], png_file.read(satin.folder / "out.png"))


@needs_ffmpeg
def test_linear_frames(ffmpeg, satin, scene):
    frames, _ = ffmpeg([opaque(scene)], "blur", "radius:5 transfer:linear")
    assert np.array_equal(frames[0], by_command(satin, scene[..., :3], "blur", "--radius", "5", "--space", "encoded"))


# --- melt ---


def melt(folder, size, *arguments, frames):
    """Runs melt at 25 frames a second; returns the frames of the result, and what was printed."""
    profile = ("description=test\nframe_rate_num=25\nframe_rate_den=1\nprogressive=1\nsample_aspect_num=1\nsample_aspect_den=1\n"
               "colorspace=709\nwidth=%d\nheight=%d\ndisplay_aspect_num=%d\ndisplay_aspect_den=%d\n" % (*size, *size))
    (folder / "profile").write_text(profile)
    command = ["melt", "-profile", "profile", *arguments, "-consumer", "avformat:melted_%d.png", "vcodec=png", "pix_fmt=rgba",
               "f=image2", "real_time=-1"]
    for old in folder.glob("melted_*.png"):
        old.unlink()
    for _ in range(5):  # melt 7.12 ends before its first frame in one run of thirty, with its own filters as well
        result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**os.environ, "FREI0R_PATH": str(PLUGINS), "QT_QPA_PLATFORM": "offscreen"}, timeout=60)
        error = result.stderr.decode()
        assert result.returncode == 0, error
        if (folder / "melted_1.png").exists():
            break
    return [png_file.read(folder / ("melted_%d.png" % (i + 1))) for i in range(frames)], error


@needs_melt
def test_melt_gives_the_commands_bytes(satin, scene):
    """All filters in one run: a clip of one frame for each, and mixers below."""
    png_file.write(satin.folder / "clip.png", opaque(scene))
    png_file.write(satin.folder / "merged.png", scene)
    arguments = []
    for name, settings in SETTINGS:
        # melt splits texts at ';' outside quotes
        controls = ['%s="%s"' % item for item in settings.items()]
        arguments += ["merged.png" if name == "dof" else "clip.png", "out=0", "-attach-cut", "frei0r.satin-" + name, *controls]
    frames, error = melt(satin.folder, (96, 64), *arguments, frames=len(SETTINGS))
    assert "satin" not in error
    for frame, (name, settings) in zip(frames, SETTINGS, strict=True):
        assert np.array_equal(frame, expected(satin, scene, name, settings)), name


@needs_melt
def test_melt_settings_in_one_text(satin, scene):
    png_file.write(satin.folder / "clip.png", opaque(scene))
    frames, _ = melt(satin.folder, (96, 64), "clip.png", "out=0", "-filter", "frei0r.satin-blur",
                     "settings=radius:4 border:clamp", frames=1)
    assert np.array_equal(frames[0], by_command(satin, scene[..., :3], "blur", "--radius", "4", "--border", "clamp"))


@needs_melt
@pytest.mark.parametrize("name, controls, side, options", [
    ("dof", ["strength=12", "focus=0.4"], "depth", ["--strength", "12", "--focus", "0.4"]),
    ("blur", ["radius-max=9"], "radius_map", ["--radius-max", "9"]),
    ("redact", ["second=mask", "method=mosaic", "cell=5"], "mask", ["--method", "mosaic", "--cell", "5"]),
    ("edge-smooth", ["sigma-s=30"], "guide", ["--sigma-s", "30"]),
])
def test_melt_mixers(satin, scene, name, controls, side, options):
    second = np.ascontiguousarray(scene[::-1, :, :3]) if side == "guide" else scene[..., 3]
    png_file.write(satin.folder / "clip.png", opaque(scene))
    png_file.write(satin.folder / "side.png", opaque(second if second.ndim == 3 else np.dstack([second] * 3)))
    frames, error = melt(satin.folder, (96, 64), "clip.png", "out=0", "-track", "side.png", "out=0",
                         "-transition", "frei0r.satin-%s-mixer" % name, *controls, frames=1)
    assert "satin" not in error
    assert np.array_equal(frames[0], by_command(satin, scene[..., :3], name, *options, **{side: second}))


@needs_melt
def test_melt_bad_settings(satin, scene):
    png_file.write(satin.folder / "clip.png", opaque(scene))
    frames, error = melt(satin.folder, (96, 64), "clip.png", "out=2", "-filter", "frei0r.satin-blur", "radius=wide", frames=3)
    assert np.array_equal(frames, [opaque(scene)] * 3)
    assert error.count("satin-blur: radius 'wide'") == 1, error


@needs_melt
def test_melt_sizes_that_are_no_multiples_of_8(satin, scene):
    frame = opaque(scene)[:61, :94]
    png_file.write(satin.folder / "clip.png", frame)
    frames, _ = melt(satin.folder, (94, 61), "clip.png", "out=0", "-filter", "frei0r.satin-blur", "radius=2.5", frames=1)
    assert np.array_equal(frames[0], by_command(satin, frame[..., :3], "blur", "--radius", "2.5"))


@needs_melt
def test_melt_explains_the_controls():
    text = subprocess.run(["melt", "-query", "filter=frei0r.satin-blur"], env={**os.environ, "FREI0R_PATH": str(PLUGINS)},
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60).stdout.decode()
    radius = re.search(r"title: radius\n.*?(?=  - identifier|\Z)", text, re.S).group()
    assert "type: string" in radius and "default 8" in radius, radius
    assert re.search(r"0 to [\d.]+ px", radius), radius
    slider = re.search(r"title: radius-slider\n.*", text, re.S).group()
    assert "type: float" in slider and re.search(r"radius from 0 to [\d.]+ px", slider), slider


# --- The entry points ---


class Info(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("author", ctypes.c_char_p), ("type", ctypes.c_int), ("color_model", ctypes.c_int),
                ("frei0r_version", ctypes.c_int), ("major", ctypes.c_int), ("minor", ctypes.c_int), ("num_params", ctypes.c_int),
                ("explanation", ctypes.c_char_p)]


class Parameter(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int), ("explanation", ctypes.c_char_p)]


BOOL, NUMBER, TEXT = 0, 1, 4


class Module:
    """A plug-in by its entry points."""

    def __init__(self, name):
        self.library = ctypes.CDLL(str(PLUGINS / ("satin-%s.so" % name)))
        self.library.f0r_construct.restype = ctypes.c_void_p
        assert self.library.f0r_init() == 1
        self.info = Info()
        self.library.f0r_get_plugin_info(ctypes.byref(self.info))
        self.parameters = []
        for index in range(self.info.num_params):
            self.parameters.append(Parameter())
            self.library.f0r_get_param_info(ctypes.byref(self.parameters[-1]), index)
        self.names = [parameter.name.decode() for parameter in self.parameters]

    def construct(self, width, height):
        return self.library.f0r_construct(width, height)

    def destruct(self, instance):
        self.library.f0r_destruct(ctypes.c_void_p(instance))

    def value(self, name):
        index = self.names.index(name)
        return index, ctypes.c_char_p() if self.parameters[index].type == TEXT else ctypes.c_double()

    def set(self, instance, **controls):
        for name, value in controls.items():
            index, place = self.value(name.replace("_", "-"))
            place.value = value.encode() if isinstance(value, str) else value
            self.library.f0r_set_param_value(ctypes.c_void_p(instance), ctypes.byref(place), index)

    def get(self, instance, name):
        index, place = self.value(name)
        self.library.f0r_get_param_value(ctypes.c_void_p(instance), ctypes.byref(place), index)
        return place.value

    def update(self, instance, frame):
        output = np.zeros_like(frame)
        self.library.f0r_update(ctypes.c_void_p(instance), ctypes.c_double(0), frame.ctypes.data_as(ctypes.c_void_p),
                                output.ctypes.data_as(ctypes.c_void_p))
        return output


def test_every_module_describes_itself():
    modules = sorted(path.name for path in PLUGINS.glob("*.so"))
    mixers = ["satin-%s-mixer.so" % name for name in FILTERS if name != "threshold"]
    assert modules == sorted(["satin-%s.so" % name for name in FILTERS] + mixers)
    for file in modules:
        module = Module(file[len("satin-") : -len(".so")])
        assert module.info.type == (2 if file in mixers else 0)
        assert module.info.explanation and all(parameter.explanation for parameter in module.parameters)
        types = [parameter.type for parameter in module.parameters]
        texts = types.index(next(kind for kind in types if kind != TEXT))
        assert TEXT not in types[texts:] and types.count(NUMBER) == 1 and types[-1] == NUMBER


def test_slider(satin, scene):
    module = Module("blur")
    frame = np.ascontiguousarray(opaque(scene))
    instance = module.construct(96, 64)
    largest = re.search(r"to (\d+) px", module.parameters[-1].explanation.decode()).group(1)
    assert np.array_equal(module.update(instance, frame), by_command(satin, frame[..., :3], "blur"))
    module.set(instance, radius_slider=1.0)
    assert np.array_equal(module.update(instance, frame), by_command(satin, frame[..., :3], "blur", "--radius", largest))
    module.set(instance, sigma="2")  # excludes a radius
    wanted = by_command(satin, frame[..., :3], "blur", "--sigma", "2")
    assert np.array_equal(module.update(instance, frame), wanted)
    module.set(instance, sigma="", radius="3")
    wanted = by_command(satin, frame[..., :3], "blur", "--radius", "3")
    assert np.array_equal(module.update(instance, frame), wanted)
    assert module.get(instance, "radius") == b"3" and module.get(instance, "radius-slider") == 1.0
    module.destruct(instance)


def test_flags(satin, scene):
    module = Module("threshold")
    frame = np.ascontiguousarray(opaque(scene))
    instance = module.construct(96, 64)
    module.set(instance, window="21", method="nick", invert=1.0)
    wanted = by_command(satin, frame[..., :3], "threshold", "--method", "nick", "--window", "21", "--invert")
    assert np.array_equal(module.update(instance, frame), wanted)
    module.destruct(instance)


@pytest.mark.parametrize("name, threads", [("smooth", "0"), ("unsharp", "1")])
def test_instances_in_threads(monkeypatch, satin, scene, name, threads):
    """They share the device of their plug-in, which its first frame opens."""
    monkeypatch.setenv("SATIN_THREADS", threads)
    module = Module(name)
    frame = np.ascontiguousarray(opaque(scene))
    wanted = {sigma: by_command(satin, frame[..., :3], name, "--sigma", sigma) for sigma in ("3", "9.5")}
    wrong = []

    def work(sigma):
        instance = module.construct(96, 64)
        for _ in range(100):
            module.set(instance, sigma=sigma)
            if not np.array_equal(module.update(instance, frame), wanted[sigma]):
                wrong.append(sigma)
        module.destruct(instance)

    callers = [threading.Thread(target=work, args=(sigma,)) for sigma in wanted for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def test_no_instance(scene):
    """melt goes on without one."""
    module = Module("blur")
    module.set(None, radius="3")
    module.update(None, np.ascontiguousarray(scene))
    module.destruct(None)
