"""Every filter as a function, made from the registry's records: name, parameters, defaults and help."""

from __future__ import annotations

import difflib
import inspect
import json
import numbers
import textwrap
from typing import Any, Callable

from satin import _native
from satin._pipeline import apply

_COMMON = {
    "out": ("Any", None, "array to write into, of the result's shape and type; it may be `image` where that is "
            "interleaved and the result is like it"),
    "layout": ("str | None", None, "axes of `image` as letters of NHWC (frames, rows, columns, channels); by "
               "default HW, HWC or NHWC by their number"),
    "alpha": ("Literal['none', 'straight', 'premultiplied']", "none", "what the last of 2 or 4 channels means"),
    "order": ("Literal['rgb', 'bgr']", "rgb", "order of the colours"),
    "device": ("Device | str | None", None, "'cpu', 'cuda:N', 'auto' or an open Device; by default where the arrays "
               "are, and for arrays in host memory the first usable GPU, otherwise the CPU"),
}

_LENGTH = "float | str"
_TYPES = {
    "real": "float",
    "reals": "Sequence[float] | str",
    "integer": "int",
    "length": _LENGTH,
    "flag": "bool",
    "radius": f"{_LENGTH} | tuple[{_LENGTH}, {_LENGTH}]",
    "boxes": "Sequence[tuple[int, int, int, int]] | str",
    "colour": "tuple[int, int, int] | str",
    "point": f"tuple[{_LENGTH}, {_LENGTH}] | str",
    "range": "tuple[float, float] | str",
}


_JOINTS = {"radius": "x", "point": ",", "reals": ",", "range": ":"}


def _identifier(name: str) -> str:
    return name.replace("-", "_")


# --- From values to the text that records take. ---


def _number_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    raise TypeError(f"{value!r} is no number.")


def _colour_text(value: Any) -> str:
    channels = [int(channel) for channel in value]
    if len(channels) != 3 or not all(0 <= channel <= 255 for channel in channels):
        raise ValueError(f"{value!r}: a colour is red, green and blue from 0 to 255.")
    return "#{:02x}{:02x}{:02x}".format(*channels)


def _text(value: Any, kind: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if kind == "colour":
        return _colour_text(value)
    if kind == "boxes":
        return ";".join(",".join(map(_number_text, box)) for box in value)
    if kind in _JOINTS and not isinstance(value, numbers.Real):
        return _JOINTS[kind].join(map(_number_text, value))
    return _number_text(value)


# --- Signature and docstring. ---


def _default(record: dict[str, Any]) -> Any:
    text, kind = record["default"], record["kind"]
    if text == "":
        return None
    if kind == "flag":
        return text == "true"
    if kind in ("real", "integer", "length", "radius"):
        try:
            value = float(text)
        except ValueError:
            return text
        return int(value) if value == int(value) else value
    return text


def _annotation(record: dict[str, Any]) -> str:
    name = f"Literal{record['choices']!r}" if record["kind"] == "choice" else _TYPES[record["kind"]]
    return name if record["default"] else f"{name} | None"


def _picture(record: dict[str, Any]) -> str:
    """What the picture is called: not as a side input."""
    return "picture" if any(each["name"] == "image" for each in record["inputs"]) else "image"


def _signature(record: dict[str, Any]) -> inspect.Signature:
    def keyword(name: str, default: Any, annotation: str) -> inspect.Parameter:
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)

    image = inspect.Parameter(_picture(record), inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Any")
    settings = [keyword(_identifier(each["name"]), _default(each), _annotation(each)) for each in record["parameters"]]
    sides = [
        keyword(_identifier(each["name"]), inspect.Parameter.empty if each["required"] else None, "Any")
        for each in record["inputs"]
    ]
    common = [keyword(name, default, annotation) for name, (annotation, default, _) in _COMMON.items()]
    return inspect.Signature([image, *settings, *sides, *common], return_annotation="Any")


def _range_text(record: dict[str, Any]) -> str:
    low, high = record["minimum"], record["maximum"]
    if low is None and high is None:
        return record["unit"]
    bounds = f"{low:g} to {high:g}" if low is not None and high is not None else f"{low:g} or more"
    return " ".join(filter(None, (bounds, record["unit"])))


def _entry(parameter: inspect.Parameter, text: str) -> str:
    head = f"{parameter.name} : {parameter.annotation}"
    if parameter.default not in (inspect.Parameter.empty, None):
        head += f", default {parameter.default!r}"
    return head + "\n" + textwrap.indent("\n".join(textwrap.wrap(text, 100)), "    ")


def _docstring(record: dict[str, Any], signature: inspect.Signature) -> str:
    texts = {
        _picture(record): "picture or batch of pictures: NumPy's, or with DLPack, __cuda_array_interface__ or the buffer "
        "protocol; uint8, uint16 or float32, any strides"
    }
    for each in record["parameters"]:
        limits = _range_text(each)
        texts[_identifier(each["name"])] = each["help"] + (f" ({limits})" if limits else "")
    texts.update((_identifier(each["name"]), each["help"]) for each in record["inputs"])
    texts.update((name, text) for name, (_, _, text) in _COMMON.items())
    entries = "\n".join(_entry(parameter, texts[name]) for name, parameter in signature.parameters.items())
    picture = _picture(record)
    result = {
        "image": f"Any\n    the picture, an array of the library that `{picture}` is of, where that lies; or `out`",
        "table": f"Any\n    the table, an array of the library that `{picture}` is of, where that lies; or `out`",
        "json": "dict\n    what the command writes as JSON",
    }[record["output"]]
    parts = [
        record["help"][0].upper() + record["help"][1:] + ".",
        "Parameters\n----------\n" + entries,
        f"Returns\n-------\n{result}",
        "Raises\n------\nValueError\n    what an argument cannot be, and NaN or infinity in a picture\n"
        "RuntimeError\n    a device that is missing or has not enough memory",
    ]
    if record["paper"]:
        parts.append("References\n----------\n" + "\n".join(textwrap.wrap(record["paper"], 100)))
    return "\n\n".join(parts) + "\n"


# --- The functions. ---


def _refuse_unknown(name: str, unknown: str, known: list[str]) -> None:
    near = difflib.get_close_matches(unknown, known, 1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise TypeError(f"{name}() has no parameter '{unknown}'.{hint}")


def _function(record: dict[str, Any]) -> Callable[..., Any]:
    name = _identifier(record["name"])
    first = _picture(record)
    signature = _signature(record)

    def function(*images: Any, **options: Any) -> Any:
        for key in options:
            if key not in signature.parameters:
                _refuse_unknown(name, key, list(signature.parameters))
        given = signature.bind_partial(*images, **options).arguments
        if first not in given:
            raise TypeError(f"{name}() needs a picture.")
        told = {key: value for key, value in given.items() if value is not None}
        settings = [
            (each["name"], _text(told[key], each["kind"]))
            for each in record["parameters"]
            if (key := _identifier(each["name"])) in told
        ]
        inputs = {each["name"]: told[key] for each in record["inputs"] if (key := _identifier(each["name"])) in told}
        common = {key: given.get(key, default) for key, (_, default, _) in _COMMON.items()}
        pipeline = _native.Pipeline.of_filter(record["name"], settings, list(inputs))
        return apply(pipeline, given[first], inputs, **common)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__annotations__ = {key: each.annotation for key, each in signature.parameters.items()} | {"return": "Any"}
    function.__doc__ = _docstring(record, signature)
    return function


def _functions() -> dict[str, Callable[..., Any]]:
    return {_identifier(record["name"]): _function(record) for record in json.loads(_native.describe_filters())["filters"]}


globals().update(_functions())
__all__ = list(_functions())
