"""Signatures and docstrings of filters, from their records."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

from satin._translation import BORDERS, TYPES, default_of, identifier, is_border, options_of, python_words

#: Parameters of every filter beside its own: annotation, default and help.
COMMON = {
    "out": ("Any", None, "array to write into, of the result's shape and type; it may be `image` where that is "
            "interleaved and the result is like it"),
    "layout": ("str | None", None, "axes of `image` as letters of NHWC (frames, rows, columns, channels); by "
               "default HW, HWC or NHWC by their number"),
    "alpha": ("Literal['none', 'straight', 'premultiplied']", "none", "what the last of 2 or 4 channels means"),
    "order": ("Literal['rgb', 'bgr']", "rgb", "order of the colours"),
    "device": ("Device | str | None", None, "'cpu', 'cuda:N', 'auto' or an open Device; by default where the arrays "
               "are, and for arrays in host memory the first usable GPU, otherwise the CPU"),
}  # fmt: skip

# Example calls; filters without one show their first parameter.
_CALLS = {
    "blur": "satin.blur(image, 12, border='reflect')",
    "edge-smooth": "satin.edge_smooth(image, sigma_s=30, sigma_r=0.2)",
    "dof": "satin.dof(image, depth=depth, focus_at=('40%', 20), strength=12, highlights=4)",
    "tilt-shift": "satin.tilt_shift(image, band=8, falloff=25, radius=12)",
    "median": "satin.median(image, 2, percent=50)",
    "threshold": "satin.threshold(image, 'sauvola', window=31)",
    "mask": "satin.mask(mask, open=2, fill_all_holes=True, feather=3)",
    "crop": "satin.crop(image, box=(8, '25%', 40, '50%'))",
    "redact": "satin.redact(image, box=(12, 8, 24, 16))",
    "resize": "satin.resize(image, 32)",
    "unsharp": "satin.unsharp(image, 0.5, sigma=1.5)",
    "regions": "satin.regions(mask, image=image, min_area=20)",
}
_ARRAYS = {
    "image": "image = numpy.full((48, 64, 3), 128, numpy.uint8)",
    "depth": "depth = numpy.linspace(0, 1, 48 * 64, dtype=numpy.float32).reshape(48, 64)",
    "mask": "mask = numpy.eye(48, 64, dtype=bool)",
}

_MOST_LINES = 17  # for the parameters, so that help() of any filter fits into 30 lines
_ENDLESS = 1e12  # bounds of this size or more are not shown
_WIDTH = 96


class ShortSignature(inspect.Signature):
    """A signature that is complete for programs and prints only the picture, the first parameter and the side inputs."""

    def format(self, **_: Any) -> str:
        """Returns the short text. The arguments would break a long text into lines."""
        return str(self)

    def __str__(self) -> str:
        picture, *others = self.parameters.values()
        first = [each for each in others if each.kind is not inspect.Parameter.KEYWORD_ONLY]
        sides = [each for each in others if each.annotation == "Any" and each.name != "out"]
        shown = [_assignment(each) for each in (*first, *(side for side in sides if side not in first))]
        return f"({', '.join([picture.name, *shown, '...'])})"


def _assignment(parameter: inspect.Parameter) -> str:
    return f"{parameter.name}={parameter.default!r}"


def _annotation(record: dict[str, Any]) -> str:
    if is_border(record):
        name = "Border"
    else:
        words = f"Literal{record['choices']!r}"
        name = words if record["kind"] == "choice" else TYPES[record["kind"]]
        if record["choices"] and name != words:
            name += f" | {words}"
    return name if record["default"] else f"{name} | None"


def picture_name(record: dict[str, Any]) -> str:
    """Returns the name of the picture's parameter, which must differ from the side inputs."""
    return "picture" if any(each["name"] == "image" for each in record["inputs"]) else "image"


def signature_of(record: dict[str, Any]) -> inspect.Signature:
    """Returns the signature: the picture, the filter's first parameter by position or name, and all others by name."""
    maps = {each["name"] for each in record["inputs"]}

    def argument(each: dict[str, Any], by_position: bool) -> inspect.Parameter:
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if by_position else inspect.Parameter.KEYWORD_ONLY
        annotation = _annotation(each) + (" | Array" if f"{each['name']}-map" in maps else "")
        return inspect.Parameter(identifier(each["name"]), kind, default=default_of(each), annotation=annotation)

    def named(name: str, annotation: str, default: Any) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    image = inspect.Parameter(picture_name(record), inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="AnyArray")
    settings = [argument(each, index == 0) for index, each in enumerate(record["parameters"])]
    sides = [
        named(identifier(each["name"]), "Any", inspect.Parameter.empty if each["required"] else None)
        for each in record["inputs"]
    ]
    common = [named(name, annotation, default) for name, (annotation, default, _) in COMMON.items()]
    return ShortSignature([image, *settings, *sides, *common], return_annotation=_result_type(record))


def _result_type(record: dict[str, Any]) -> str:
    return "dict[str, Any]" if record["output"] == "json" else "AnyArray"


# --- Words about parameters. ---


def _range_text(record: dict[str, Any]) -> str:
    low, high = (None if each is None or abs(each) >= _ENDLESS else each for each in (record["minimum"], record["maximum"]))
    bounds = ""
    if low is not None:
        bounds = f"{low:g} or more" if high is None else f"{low:g} to {high:g}"
    elif high is not None:
        bounds = f"{high:g} or less"
    hard = " ".join(filter(None, (bounds, record["unit"])))
    usual = record.get("usual", [low, high])
    return hard if usual == [low, high] else ", ".join(filter(None, (hard, f"usually {usual[0]:g} to {usual[1]:g}")))


def _words_of(record: dict[str, Any]) -> dict[str, str]:
    """Returns the help of every parameter of the filter."""
    maps = {each["name"] for each in record["inputs"]}
    words = {}
    for each in record["parameters"]:
        limits = _range_text(each)
        text = each["help"] + (f" ({limits})" if limits else "")
        if f"{each['name']}-map" in maps:
            text += "; an array holds the radius of every pixel"
        words[identifier(each["name"])] = text
    words.update((identifier(each["name"]), each["help"]) for each in record["inputs"])
    options = options_of([record])
    return {name: python_words(text, options, identifier) for name, text in words.items()}


def _example(record: dict[str, Any]) -> str:
    picture = "image"
    first = next((each for each in record["parameters"] if each["default"]), None)
    value = "" if first is None else f", {identifier(first['name'])}={default_of(first)!r}"
    call = _CALLS.get(record["name"], f"satin.{identifier(record['name'])}({picture}{value})")
    arrays = [line for name, line in _ARRAYS.items() if re.search(rf"\b{name}\b(?!\()(?!=)", call)]
    return "\n".join(f">>> {line}" for line in ("import numpy, satin", *arrays, f"result = {call}"))


def _short_entries(record: dict[str, Any], signature: inspect.Signature) -> list[tuple[str, list[str]]]:
    """Returns the lines of each parameter. Parameters of the example and side inputs come first."""
    words, example = _words_of(record), _example(record)
    sides = {identifier(each["name"]) for each in record["inputs"]}

    def later(name: str) -> bool:
        return name not in sides and not re.search(rf"\b{name}=", example)

    names = sorted(words, key=lambda name: (list(signature.parameters)[1] != name, later(name)))
    heads = {name: _assignment(signature.parameters[name]) for name in names}
    column = min(26, 2 + max(map(len, heads.values()), default=0))
    return [
        (name, textwrap.wrap(f"{heads[name]:{column}}{words[name]}", _WIDTH - 4, subsequent_indent=" " * column))
        for name in names
    ]


def _lines_for(entries: list[tuple[str, list[str]]]) -> list[str]:
    """Returns the lines of as many parameters as fit, then the names of the others."""
    for shown in range(len(entries), -1, -1):
        lines = [line for _, text in entries[:shown] for line in text]
        if shown < len(entries):
            names = ", ".join(name for name, _ in entries[shown:])
            lines += textwrap.wrap(f"And {names}.", _WIDTH - 4, subsequent_indent="    ")
        if len(lines) <= _MOST_LINES:
            break
    return lines


def _summary(record: dict[str, Any]) -> str:
    return str(record["help"][0].upper() + record["help"][1:] + ".")


def docstring_of(record: dict[str, Any], signature: inspect.Signature) -> str:
    """Returns the text for help(), at most 30 lines."""
    lines = _lines_for(_short_entries(record, signature))
    name = identifier(record["name"])
    more = f"{', '.join(COMMON)}: as of every filter. satin.describe('{name}') has types, ranges and errors."
    return "\n\n".join([
        "\n".join(textwrap.wrap(_summary(record), _WIDTH - 4)), "\n".join(lines), "\n".join(textwrap.wrap(more, _WIDTH - 4)),
        _example(record),
    ]) + "\n"  # fmt: skip


def _entry(parameter: inspect.Parameter, text: str) -> str:
    head = f"{parameter.name} : {parameter.annotation}"
    if parameter.default not in (inspect.Parameter.empty, None):
        head += f", default {parameter.default!r}"
    return head + "\n" + textwrap.indent("\n".join(textwrap.wrap(text, 100)), "    ")


def description_of(record: dict[str, Any], signature: inspect.Signature) -> str:
    """Returns the complete description of a filter in the style of NumPy's docstrings."""
    picture = picture_name(record)
    texts = {
        picture: "picture or batch of pictures: NumPy's, or with DLPack, __cuda_array_interface__ or the buffer protocol; "
        "uint8, uint16 or float32, any strides; float64 is converted to float32, booleans become 0 and 255"
    }
    texts.update(_words_of(record))
    for each in filter(is_border, record["parameters"]):
        others = ", ".join(sorted(name for name, ours in BORDERS.items() if ours in each["choices"]))
        texts[identifier(each["name"])] += (
            f": {', '.join(each['choices'])}; also {others}, and the numbers of cv2.BORDER_. 'reflect' repeats the edge, as "
            "in SciPy and OpenCV; NumPy's and PyTorch's 'reflect' is 'mirror'"
        )
    texts.update((name, text) for name, (_, _, text) in COMMON.items())
    entries = "\n".join(_entry(parameter, texts[name]) for name, parameter in signature.parameters.items())
    result = {
        "image": f"AnyArray\n    the picture, an array of the library that `{picture}` is of, where that lies; or `out`",
        "table": f"AnyArray\n    the table, an array of the library that `{picture}` is of, where that lies; or `out`",
        "json": "dict\n    what the command writes as JSON",
    }[record["output"]]
    parts = [
        _summary(record),
        "Parameters\n----------\n" + entries,
        f"Returns\n-------\n{result}",
        "Raises\n------\nValueError\n    what an argument cannot be, and NaN or infinity in a picture\n"
        "RuntimeError\n    a device that is missing or has not enough memory",
        f"Examples\n--------\n{_example(record)}",
    ]
    if record["paper"]:
        parts.append("References\n----------\n" + "\n".join(textwrap.wrap(record["paper"], 100)))
    return "\n\n".join(parts) + "\n"
