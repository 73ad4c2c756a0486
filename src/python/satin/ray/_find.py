"""Names of pictures as a dataset."""

from __future__ import annotations

import os
import warnings
from typing import Any, Iterable, Iterator, Optional, Union

import pyarrow
import ray
from pyarrow import fs

from satin._batch import PathLike, inputs_of
from satin._files import need_files
from satin.ray import _remote

_SCHEMA = pyarrow.schema(
    [("path", pyarrow.string()), ("sub", pyarrow.string()), ("size", pyarrow.int64()), ("mtime", pyarrow.int64())]
)
_LARGEST_BLOCK = 256  # names: a block is what one actor does before it takes the next
_SMALLEST_BLOCK = 8


def _local(inputs: list[PathLike], recursive: bool) -> Iterator[dict[str, Any]]:
    options = need_files().BatchOptions()
    options.inputs, options.recursive = inputs, recursive
    names, unread = need_files().find_pictures(options)
    if unread:
        warnings.warn(f"{len(unread)} files are no pictures that Satin reads, such as {unread[0]}", stacklevel=4)
    for path, relative in names:
        yield row_of(os.path.abspath(path), os.fspath(relative))


def row_of(path: str, relative: str) -> dict[str, Any]:
    """The row of a file; size and time are 0 for one that is not there, which the filter tells."""
    try:
        status = os.stat(path)
        size, mtime = status.st_size, status.st_mtime_ns
    except OSError:
        size = mtime = 0
    return {"path": path, "sub": os.path.dirname(relative) or ".", "size": size, "mtime": mtime}


def block_size(names: int, actors: int = 0) -> int:
    """Names of a block: blocks are many for each actor, so that all end at about the same time, yet not so small that
    actors wait between them."""
    cpus = int(ray.cluster_resources().get("CPU", 1)) if ray.is_initialized() else os.cpu_count() or 1
    return min(max(names // (4 * (actors or cpus) or 1), _SMALLEST_BLOCK), _LARGEST_BLOCK)


def dataset_of(rows: Iterable[dict[str, Any]], actors: int = 0) -> ray.data.Dataset:
    rows = list(rows)
    size = block_size(len(rows), actors)
    try:
        tables = [pyarrow.Table.from_pylist(rows[i : i + size], _SCHEMA) for i in range(0, len(rows), size)]
    except UnicodeEncodeError as error:
        raise ValueError(f"Names must be UTF-8 to travel through Ray, but {error.object!r} is not.") from None
    return ray.data.from_arrow(tables or [_SCHEMA.empty_table()])


def find(
    path: Union[PathLike, list[PathLike]], recursive: bool = False, filesystem: Optional[fs.FileSystem] = None
) -> ray.data.Dataset:
    """The pictures that files, folders and patterns lead to, as the command finds them: a dataset of rows

    path : its whole name; actors must see it under this name
    sub : its folder below the folder that was named, "." for none: what {sub} stands for in outputs
    size : bytes
    mtime : time of its last change, in nanoseconds since 1970

    `recursive` takes folders with all folders below them. A name with a scheme, such as "s3://bucket/photos", is listed by
    pyarrow.fs, by `filesystem` or by what the scheme says. Raises OSError for a folder that cannot be read and where there is no picture, ValueError for names that are
    not UTF-8. Files that are no pictures are told by one warning.
    """
    inputs = inputs_of(path)
    remote = [each for each in inputs if _remote.is_remote(each)]
    rows = list(_local([each for each in inputs if each not in remote], recursive)) if len(remote) < len(inputs) else []
    for each in remote:
        rows += _remote.find(os.fspath(each), recursive, filesystem)
    return dataset_of(rows)
