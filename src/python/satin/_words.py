"""Messages of the native half, which speaks of the command's options, in Python's words."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from typing import Any, Callable, Iterator, Mapping, TypeVar, cast

from satin._values import identifier

_TYPES = {"u": "uint", "i": "int", "f": "float"}

# What stands in quotes is somebody's own text. A placeholder is in capitals, such as FILE, X,Y or N|NAME.
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
    """The option as an argument; `value` is the word after it, which may be the sentence's next one."""
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
    """The message with arguments in place of options and NumPy's names of types. `options` are those that callers of the
    function can give; others stay. `spelled` writes a name as they give it."""

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
    """Raises errors of the native half with :func:`python_words`."""
    try:
        yield
    except (ValueError, RuntimeError, OSError) as error:
        if len(error.args) == 1 and isinstance(error.args[0], str):
            error.args = (python_words(error.args[0], options, spelled),)
        raise


def options_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    """The options of filters, by their records."""
    found: dict[str, Any] = {"device": "value"}
    for record in records:
        for each in record["parameters"]:
            found[each["name"]] = "flag" if each["kind"] == "flag" else each["choices"] or "value"
        found.update((each["name"], "value") for each in record["inputs"])
    return found


def worded(*others: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """For a function whose own parameters, and those of the others, have the names of the command's options."""

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
