"""Every filter as a function, made from the registry's records: name, parameters, defaults and help."""

from __future__ import annotations

import difflib
import json
from typing import Any, Callable, Union

from satin import _native
from satin._documents import COMMON, description_of, docstring_of, picture_name, signature_of
from satin._errors import InvalidArgumentError
from satin._peers import parameter_for
from satin._pipeline import apply, single
from satin._translation import identifier, in_python_words, is_array, map_of_radii, options_of, text_of


def _refuse_unknown(name: str, unknown: str, known: list[str]) -> None:
    if unknown == "threads":
        raise TypeError(f"{name}() has no parameter 'threads'. Give device=satin.Device('cpu', threads=2).")
    near = difflib.get_close_matches(unknown, known, 1)
    hint = parameter_for(unknown, known) or (f" Did you mean '{near[0]}'?" if near else "")
    raise TypeError(f"{name}() has no parameter '{unknown}'.{hint}")


def _with_map(record: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    """Moves an array of radii to the filter's radius map. Its values are those of a map if the caller sets the radius
    for its maximum, otherwise radii in pixels."""
    inputs = {each["name"] for each in record["inputs"]}
    for each in record["parameters"]:
        name = identifier(each["name"])
        if f"{each['name']}-map" not in inputs or not is_array(told.get(name)):
            continue
        if f"{name}_map" in told:
            raise TypeError(f"{name} is an array, so leave out {name}_map; or give the map alone, with {name}_max.")
        radii = told.pop(name)
        if f"{name}_max" in told:
            return {**told, f"{name}_map": radii}
        if f"{name}_min" in told:
            raise TypeError(f"{name}_min says what 0 means in a map: give {name}_max too, or leave it out.")
        values, largest = map_of_radii(radii, single)
        return {**told, f"{name}_map": values, f"{name}_max": largest}
    return told


def _function(record: dict[str, Any]) -> Callable[..., Any]:
    name = identifier(record["name"])
    first = picture_name(record)
    signature = signature_of(record)
    options_told = options_of([record])

    def function(*images: Any, **options: Any) -> Any:
        for key in options:
            if key not in signature.parameters:
                _refuse_unknown(name, key, list(signature.parameters))
        try:
            given = signature.bind_partial(*images, **options).arguments
        except TypeError as error:
            how = "the picture and its first parameter come by position, all else by name"
            raise TypeError(f"{name}() {error}: {how}.") from None
        if first not in given:
            raise TypeError(f"{name}() needs a picture.")
        sides = [identifier(each["name"]) for each in record["inputs"]]
        if len(images) > 1 and is_array(images[1]) and record["parameters"][0]["kind"] == "choice":
            raise TypeError(f"{name}() takes arrays beside the picture by name: {'=, '.join(sides)}=.")
        told = _with_map(record, {key: value for key, value in given.items() if value is not None})
        settings = [
            (each["name"], text_of(told[key], each))
            for each in record["parameters"]
            if (key := identifier(each["name"])) in told
        ]
        inputs = {each["name"]: told[key] for each in record["inputs"] if (key := identifier(each["name"])) in told}
        common: dict[str, Any] = {key: given.get(key, default) for key, (_, default, _) in COMMON.items()}
        with in_python_words(options_told, identifier):
            pipeline = _native.Pipeline.of_filter(record["name"], settings, list(inputs))
            return apply(pipeline, given[first], inputs, **common, options=options_told, spelled=identifier)

    function.__name__ = function.__qualname__ = name
    function.__module__ = __name__
    function.__signature__ = signature  # type: ignore[attr-defined]
    annotations = {key: each.annotation for key, each in signature.parameters.items()}
    function.__annotations__ = annotations | {"return": signature.return_annotation}
    function.__doc__ = docstring_of(record, signature)
    return function


_RECORDS = {identifier(each["name"]): each for each in json.loads(_native.describe_filters())["filters"]}


def describe(filter: Union[str, Callable[..., Any]]) -> str:
    """Describes a filter completely: every parameter with its type, default and range, results, errors and the paper.

    >>> import satin
    >>> print(satin.describe("blur"))                     # doctest: +ELLIPSIS
    Mean over a window of any radius; a map can set the radius of every pixel.
    <BLANKLINE>
    Parameters
    ...
    """
    name = identifier(filter if isinstance(filter, str) else filter.__name__)
    if name not in _RECORDS:
        near = difflib.get_close_matches(name, list(_RECORDS), 1)
        hint = f" Did you mean '{near[0]}'?" if near else ""
        raise InvalidArgumentError(f"There is no filter '{name}'.{hint}")
    return description_of(_RECORDS[name], signature_of(_RECORDS[name]))


globals().update((name, _function(record)) for name, record in _RECORDS.items())
__all__ = list(_RECORDS)
