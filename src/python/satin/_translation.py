"""Translates between Python and the command: values to the text that filter records parse, and messages of the native half,
which name the command's options, to names of arguments.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import numbers
import re
from typing import Any, Callable, Iterator, Mapping, TypeVar, cast

from satin._errors import InvalidArgumentError

LENGTH = "float | str"
TYPES = {
    "real": "float",
    "reals": "Sequence[float] | str",
    "integer": "int",
    "length": LENGTH,
    "flag": "bool",
    "radius": f"{LENGTH} | tuple[{LENGTH}, {LENGTH}]",
    "boxes": "Box | Sequence[Box] | str",
    "colour": "tuple[int, int, int] | str",
    "point": f"tuple[{LENGTH}, {LENGTH}] | str",
    "range": "tuple[float, float] | str",
    "size": "int | tuple[int, int] | str",
    "box": f"tuple[{LENGTH}, {LENGTH}, {LENGTH}, {LENGTH}] | str",
    "ratio": "tuple[float, float] | str",
}  #: the annotation of each kind but a choice

_JOINTS = {"radius": "x", "point": ",", "reals": ",", "range": ":", "size": "x", "box": ",", "ratio": ":"}

#: Borders as SciPy, OpenCV, NumPy and PyTorch call them. `reflect` is SciPy's and OpenCV's: it repeats the pixel at the
#: edge. NumPy and PyTorch call that 'symmetric', and mean `mirror` by 'reflect'.
BORDERS = {
    "reflect101": "mirror",
    "reflect_101": "mirror",
    "default": "mirror",
    "nearest": "clamp",
    "edge": "clamp",
    "replicate": "clamp",
    "symmetric": "reflect",
    "grid-mirror": "reflect",
    "grid-wrap": "wrap",
    "circular": "wrap",
    "grid-constant": "constant",
}
_OF_OPENCV = ("constant", "clamp", "reflect", "wrap", "mirror")  # by the number of cv2.BORDER_...


def identifier(name: str) -> str:
    """Returns the name of a parameter in Python."""
    return name.replace("-", "_")


def is_array(value: Any) -> bool:
    """Returns whether this is an array of two or more dimensions."""
    return len(getattr(value, "shape", ())) >= 2


def is_border(record: dict[str, Any]) -> bool:
    """Returns whether the parameter is a border."""
    return {"clamp", "reflect", "mirror"} <= set(record["choices"])


def _border(value: Any, choices: list[str]) -> Any:
    """Translates a border's name or number in another library to Satin's name, if the filter has that border."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
        name = _OF_OPENCV[number] if 0 <= number < len(_OF_OPENCV) else value
    elif isinstance(value, str):
        plain = value.lower().replace("border_", "")
        name = BORDERS.get(plain, plain if value.startswith("BORDER_") else value)
    else:
        return value
    return name if name in choices else value


def _number(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    raise TypeError(f"{value!r} is no number.")


def _colour(value: Any) -> str:
    channels = [int(channel) for channel in value]
    if len(channels) != 3 or not all(0 <= channel <= 255 for channel in channels):
        raise InvalidArgumentError(f"{value!r}: a colour is red, green and blue from 0 to 255.")
    return "#{:02x}{:02x}{:02x}".format(*channels)


def _boxes(value: Any) -> str:
    one = len(value) == 4 and all(isinstance(each, numbers.Real) for each in value)
    return ";".join(",".join(map(_number, box)) for box in ([value] if one else value))


def text_of(value: Any, record: dict[str, Any]) -> str:
    """Returns the text of a value for the parameter of this record."""
    kind = record["kind"]
    if is_array(value) and kind != "boxes":
        name = identifier(record["name"])
        raise TypeError(f"{name} is an array of shape {tuple(value.shape)}: this filter takes one for all pixels.")
    if is_border(record):
        value = _border(value, record["choices"])
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    if kind == "colour":
        return _colour(value)
    if kind == "boxes":
        return _boxes(value)
    try:
        if kind in _JOINTS and not isinstance(value, numbers.Real):
            return _JOINTS[kind].join(map(_number, value))
        return _number(value)
    except TypeError:
        wanted = f"one of {', '.join(record['choices'])}" if kind == "choice" else TYPES[kind]
        raise TypeError(f"{identifier(record['name'])}={value!r}: {wanted} is expected.") from None


def map_of_radii(radii: Any, single: Any) -> tuple[Any, int]:
    """Converts radii in pixels to a map of floats from 0 to 1, and returns it with the integer radius for 1. `single`
    converts an array to float32. Radii in 1/256 pixel below 16384 are exact, because the error of a 24-bit float is
    below 1/512 pixel."""
    largest = float(radii.max())
    if not (math.isfinite(largest) and float(radii.min()) >= 0):
        raise InvalidArgumentError("radius: an array holds the radius of every pixel, in pixels: finite numbers from 0 on.")
    whole = max(1, math.ceil(largest))
    return single(radii) / whole, whole


def default_of(record: dict[str, Any]) -> Any:
    """Returns the default of the parameter as a Python value; None if it is not set."""
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


_TYPES = {"u": "uint", "i": "int", "f": "float"}

# Quoted text belongs to the user and is kept. A placeholder is in capitals, such as FILE, X,Y or N|NAME.
_PARTS = re.compile(
    r"(?P<quoted>'[^']*')"
    r"|--(?P<option>[a-z][a-z-]*[a-z])"
    r"(?:[ ](?P<value>[A-Z]+(?:[,/|:x][A-Z]+)*\b|\d+(?:\.\d+)?%?|[a-z]+(?::[A-Z])?\b|'[^']*'))?"
    r"|\b(?P<kind>[uif])(?P<bits>8|16|32|64)\b"
    r"|\b(?P<name>[a-z]+(?:-[a-z]+)+)\b"
)

#: Of an option: 'flag', a list of choices, or 'value'.
Options = Mapping[str, Any]
_Function = TypeVar("_Function", bound=Callable[..., Any])


def _assigned(name: str, kind: Any, value: str | None) -> str:
    """Writes the option as an argument. `value` is the word after it, which may be its value or the next word of the
    sentence."""
    after = "" if value is None else " " + value
    if kind == "flag":
        return f"{name}=True{after}"
    if value is None or value == "FILE":
        return f"{name}="
    if value[0] == "'" or value[0].isdigit():
        return f"{name}='{value}'" if value[-1] == "%" else f"{name}={value}"
    if value.isupper() or ":" in value:
        parts = value.split(",")
        if len(parts) > 1:
            return f"{name}=({', '.join(parts)})"
        return f"{name}='{value}'" if re.search("[/:]", value) else f"{name}={value}"
    known = isinstance(kind, list) and value in kind or name in ("device", "shard")
    return f"{name}='{value}'" if known else name + after


def python_words(text: str, options: Options, spelled: Callable[[str], str]) -> str:
    """Returns the message with arguments in place of options and NumPy's names of types. `options` are the options that
    callers can pass; others are not changed. `spelled` writes a name as callers spell it."""

    def replaced(found: re.Match[str]) -> str:
        if found["quoted"]:
            return found[0]
        if found["kind"]:
            return _TYPES[found["kind"]] + found["bits"]
        name = found["option"] or found["name"]
        if name not in options:
            return found[0]
        return _assigned(spelled(name), options[name], found["value"]) if found["option"] else spelled(name)

    return _PARTS.sub(replaced, text.replace("'satin list' shows them all.", "satin.filters.__all__ has them all."))


@contextlib.contextmanager
def in_python_words(options: Options, spelled: Callable[[str], str]) -> Iterator[None]:
    """Translates errors of the native module by :func:`python_words`."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (python_words(error.args[0], options, spelled),)
        raise


def options_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the options of filters by name, with their kinds."""
    found: dict[str, Any] = {"device": "value"}
    for record in records:
        for each in record["parameters"]:
            found[each["name"]] = "flag" if each["kind"] == "flag" else each["choices"] or "value"
        found.update((each["name"], "value") for each in record["inputs"])
    return found


def worded(*others: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Decorates a function whose parameters, and those of `others`, have the names of the command's options."""

    def decorate(function: _Function) -> _Function:
        options: dict[str, Any] = {}
        functions: list[Callable[..., Any]] = [function, *others]
        for each in functions:
            for name, parameter in inspect.signature(each).parameters.items():
                options[name.replace("_", "-")] = "flag" if isinstance(parameter.default, bool) else "value"

        @functools.wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            with in_python_words(options, identifier):
                return function(*arguments, **named)

        return cast(_Function, call)

    return decorate
