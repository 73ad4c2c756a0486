"""Finds pictures as a dataset of names, and runs a whole batch on a cluster in one call."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import time
import warnings
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence, Union

import pyarrow
import ray
from pyarrow import fs

from satin import _native
from satin._batch import PathLike, Progress, Row, batch_options, inputs_of
from satin._errors import DeviceError, InvalidArgumentError
from satin._files import need_files
from satin._pipeline import pipeline_words
from satin._translation import worded
from satin.ray import _remote
from satin.ray._filter import Filter, check_options

_SCHEMA = pyarrow.schema(
    [("path", pyarrow.string()), ("sub", pyarrow.string()), ("size", pyarrow.int64()), ("mtime", pyarrow.int64())]
)
_LARGEST_BLOCK = 256  # names per block; an actor processes one block at a time
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
    """Returns the row of a file. Size and time are 0 for a missing file, which the filter reports."""
    try:
        status = os.stat(path)
        size, mtime = status.st_size, status.st_mtime_ns
    except OSError:
        size = mtime = 0
    return {"path": path, "sub": os.path.dirname(relative) or ".", "size": size, "mtime": mtime}


def block_size(names: int, actors: int = 0) -> int:
    """Returns the number of names per block: small enough that every actor gets many blocks and all end at about the
    same time, and large enough that actors do not wait between blocks."""
    cpus = int(ray.cluster_resources().get("CPU", 1)) if ray.is_initialized() else os.cpu_count() or 1
    return min(max(names // (4 * (actors or cpus) or 1), _SMALLEST_BLOCK), _LARGEST_BLOCK)


def dataset_of(rows: Iterable[dict[str, Any]], actors: int = 0) -> ray.data.Dataset:
    rows = list(rows)
    size = block_size(len(rows), actors)
    try:
        tables = [pyarrow.Table.from_pylist(rows[i : i + size], _SCHEMA) for i in range(0, len(rows), size)]
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"Names must be UTF-8 to travel through Ray, but {error.object!r} is not.") from None
    return ray.data.from_arrow(tables or [_SCHEMA.empty_table()])


def find(
    path: Union[PathLike, list[PathLike]], recursive: bool = False, filesystem: Optional[fs.FileSystem] = None
) -> ray.data.Dataset:
    """Finds the pictures that files, folders and patterns lead to, as the command does, and returns a dataset of rows

    path : absolute name, which must be valid on the actors
    sub : folder below the input folder, "." for none; the value of {sub} in outputs
    size : size in bytes
    mtime : time of the last change, in nanoseconds since 1970

    `recursive` also searches all folders below the input folders. A name with a scheme, such as "s3://bucket/photos",
    is listed by pyarrow.fs, through `filesystem` or the file system of the scheme. Raises OSError for a folder that
    cannot be read or holds no picture, ValueError for names that are not UTF-8. One warning counts the files that are
    not pictures.
    """
    inputs = inputs_of(path)
    remote = [each for each in inputs if _remote.is_remote(each)]
    rows = list(_local([each for each in inputs if each not in remote], recursive)) if len(remote) < len(inputs) else []
    for each in remote:
        rows += _remote.find(os.fspath(each), recursive, filesystem)
    return dataset_of(rows)


@dataclass
class Result:
    """Counts of a run, and what failed."""

    total: int  #: number of files
    seconds: float = 0.0  #: duration of the run
    done: int = 0  #: files written
    skipped: int = 0  #: files skipped because they were done before
    failures: list[Row] = field(default_factory=list)  #: rows of files that failed
    unread: list[str] = field(default_factory=list)  #: files in folders that Satin does not read

    @property
    def failed(self) -> int:
        """Number of files that failed."""
        return len(self.failures)

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 all good, 1 a file failed."""
        return 1 if self.failures else 0

    def _count(self, row: Row) -> None:
        if row["status"] == "failed":
            self.failures.append(row)
        elif row["status"] == "done":
            self.done += 1
        else:
            self.skipped += 1


def _actors(gpus: Optional[float]) -> tuple[int, float, float]:
    """Returns the number of actors, and the CPUs and GPUs of each: one actor per GPU, or without GPUs one per machine."""
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not nodes:
        raise DeviceError("Ray has no machine with a CPU left.")
    on_gpus = sum(node.get("GPU", 0) for node in nodes)
    if gpus is None:
        gpus = 1 if on_gpus else 0
    if gpus == 0:
        return len(nodes), min(node["CPU"] for node in nodes), 0
    if on_gpus < gpus:
        raise DeviceError(f"Ray has {on_gpus:g} GPUs, but an actor wants {gpus:g}. Say gpus=0 to filter on CPUs.")
    per_node = max(1.0, 1 // gpus if gpus < 1 else 1.0)
    count = int(on_gpus * per_node if gpus < 1 else on_gpus // gpus)
    cpus = min(node["CPU"] // max(1.0, node["GPU"] / gpus) for node in nodes if node.get("GPU", 0) > 0)
    return count, max(1.0, cpus), gpus


def _absolute(name: PathLike) -> str:
    """Returns the absolute name, which is valid in every process. Patterns that begin with {dir}, the input's folder,
    are kept."""
    text = os.fspath(name)
    return text if _remote.is_remote(text) or text.startswith("{dir}") else os.path.abspath(text)


def _names(
    pipeline: str, inputs: Sequence[PathLike], output: PathLike, recursive: bool, actors: int, options: dict[str, Any]
) -> tuple[ray.data.Dataset, Result]:
    """Checks everything that the command checks before it starts, and returns the names and a result without rows."""
    resume = not options.get("skip_existing", False)
    of_actors = ("device", "filesystem", "memory_limit", "resume", "skip_existing")
    settings = batch_options(output, resume=resume, **{key: value for key, value in options.items() if key not in of_actors})
    if _remote.is_remote(output) or any(_remote.is_remote(each) for each in inputs):
        dataset = find(list(inputs), recursive, options.get("filesystem"))
        return dataset, Result(dataset.count())
    settings.inputs, settings.recursive, settings.skip_existing = list(inputs), recursive, not resume
    with pipeline_words():
        text = _native.Pipeline(pipeline)
    batch = _native.Batch(text, settings)
    rows = (row_of(str(path), str(relative)) for path, relative in batch.names())
    return dataset_of(rows, actors), Result(len(batch), unread=[str(path) for path in batch.unread])


def _rows(dataset: ray.data.Dataset) -> Iterator[Row]:
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
        yield from batch.to_pylist()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silences Ray Data except for errors, because the rows show the progress."""
    context, logger = ray.data.DataContext.get_current(), logging.getLogger("ray.data")
    before = context.enable_progress_bars, logger.level
    context.enable_progress_bars = False
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        context.enable_progress_bars = before[0]
        logger.setLevel(before[1])


def _lines(report: PathLike) -> Any:
    return open(report, "a", encoding="utf-8") if report else contextlib.nullcontext()


@worded(batch_options)
def run(
    pipeline: str,
    inputs: Union[PathLike, Sequence[PathLike]],
    output: PathLike,
    *,
    recursive: bool = False,
    actors: int = 0,
    cpus: float = 0,
    gpus: Optional[float] = None,
    report: PathLike = "",
    progress: Optional[bool] = None,
    finished: Optional[Callable[[Row], None]] = None,
    **options: Any,
) -> Result:
    """Filters files on all machines of the Ray cluster that the program is connected to, otherwise on this one.

    Names and options are checked first, as the command does, and raise what :func:`satin.batch` raises. Then every file
    gives a row, which is appended to the file `report` as a line of JSON. Run the same line again after a crash:
    finished files are kept.

    actors : number of actors; by default one per GPU, or without GPUs one per machine
    cpus, gpus : resources of each actor; with `gpus` of 0.5 two share a GPU, 0 filters on CPUs
    progress : a bar by tqdm; by default where tqdm is installed and standard error is a terminal
    finished : called with the row of each file; an exception ends the run

    The other options are those of :class:`Filter`. ``raise SystemExit(result.exit_code)`` ends a script as the command
    would.
    """
    check_options(options, of_run=True)
    for name in ("depth_out", "model"):
        if options.get(name):
            options[name] = _absolute(options[name])
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    count, usual_cpus, of_gpu = _actors(gpus)
    paths = [_absolute(path) for path in inputs_of(inputs)]
    output = _absolute(output)
    dataset, result = _names(pipeline, paths, output, recursive, actors or count, options)
    started = time.monotonic()
    rows = dataset.map_batches(
        Filter,
        fn_constructor_args=(pipeline, output),
        fn_constructor_kwargs=options,
        batch_size=block_size(result.total, actors or count),  # for GPUs Ray wants a number
        num_cpus=cpus or usual_cpus,
        num_gpus=of_gpu or None,
        compute=ray.data.ActorPoolStrategy(size=actors or count),
    )
    with _quiet(), Progress(result.total, progress) as bar, _lines(report) as lines:
        for row in _rows(rows):
            result._count(row)
            bar.add(result.failed)
            if lines is not None:
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
                lines.flush()
            if finished is not None:
                finished(row)
    result.seconds = time.monotonic() - started
    return result
