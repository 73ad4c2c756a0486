"""The actor that filters files by their names, with its share of the machine and its log of attempts."""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Optional, Sequence, Union

import numpy
import ray
from pyarrow import fs

from satin import _native
from satin._batch import PathLike, Row, batch_options, row_of
from satin._errors import InvalidArgumentError
from satin._pipeline import pipeline_words
from satin._translation import worded
from satin.ray import _remote

Devices = Union[None, str, Sequence[str]]

_USUAL_MEMORY = 0.25  # share of the machine's memory for pictures in flight, as in the command


@dataclass
class Share:
    """Devices, threads and memory of one actor."""

    devices: list[_native.Device]
    threads: int  #: CPU threads; 0: all
    memory: int  #: bytes for pictures in flight; 0: the default share of the machine


def _assigned() -> dict[str, float]:
    """Returns the resources that Ray assigned to this process; empty outside of Ray's tasks and actors."""
    context = ray.get_runtime_context() if ray.is_initialized() else None
    return context.get_assigned_resources() if context is not None and context.get_task_id() is not None else {}


def _open(name: str, threads: int, memory_limit: int, share: float) -> _native.Device:
    device = _native.Device(name, threads)
    limit = memory_limit or (int(share * device.memory) if share < 1 and device.id != "cpu" else 0)
    device.limit_memory(limit)
    return device


_OF_BATCH = {
    "fail_fast": "let `finished` raise where a row has failed",
    "backup": "it goes with in_place",
    "gallery": "satin.batch(..., resume=True, gallery=...) makes the page afterwards",
    "in_place": "Ray's actors write outputs beside a manifest of their own; satin.batch(..., in_place=True) replaces inputs",
    "shard": "Ray shares the files out among its actors",
}
_OF_RUN = dict.fromkeys(("finished", "progress", "recursive", "report"), "it is one of satin.ray.run")


def check_options(options: dict[str, Any], of_run: bool = False) -> None:
    """Refuses options of satin.batch that an actor, or satin.ray.run, does not have."""
    for name, reason in (_OF_BATCH if of_run else {**_OF_BATCH, **_OF_RUN}).items():
        if name in options:
            raise InvalidArgumentError(f"{name} is not an option here: {reason}.")
    device = options.get("device")
    if device is not None and not all(isinstance(each, str) for each in ([device] if isinstance(device, str) else device)):
        raise InvalidArgumentError("Every actor opens devices of its own: pass their names, such as 'cuda:0'.")
    if not options.get("resume", True):
        raise InvalidArgumentError("Actors always resume, because Ray starts those that died again: leave resume out.")


def share_of_actor(device: Devices, threads: int, memory: int, memory_limit: int) -> Share:
    """Returns the share of the machine that Ray assigned to this actor. Ray sets CUDA_VISIBLE_DEVICES, so the GPUs of
    an actor are the first ones that it sees. An actor with a fraction of a GPU uses at most that fraction of its
    memory, unless a limit is given; without a GPU the CPU filters."""
    assigned = _assigned()
    cpus, gpus = assigned.get("CPU", 0.0), assigned.get("GPU", 0.0)
    if not threads and cpus:
        threads = max(1, int(cpus))
    if not memory and cpus:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        memory = int(_USUAL_MEMORY * machine * min(1.0, max(cpus, 1.0) / (os.cpu_count() or 1)))
    if device is not None:
        names = device.split(",") if isinstance(device, str) else list(device)
    elif gpus:
        names = [f"cuda:{index}" for index in range(max(1, int(gpus)))]
    else:
        names = ["cpu" if assigned else "auto"]
    part = gpus if 0 < gpus < 1 else 1.0
    return Share([_open(name, threads, memory_limit, part) for name in names], threads, memory)


MOST_DEATHS = 2


def process_name() -> str:
    """Returns a name for this process that is unique on all machines, with letters that every file system accepts."""
    host = "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())
    return f"{host}-{os.getpid()}-{os.urandom(4).hex()}"


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return "none"
    return f"{status.st_size}-{status.st_mtime_ns}"


class Attempts:
    """The attempts log: a small file for every picture that was started and not finished, with a line per attempt.

    A line is written before its picture is opened and removed when the picture has its row, so a line of an earlier
    process means that it died. Lines hold the picture's size and time, so a replaced picture starts anew. No locks are
    needed, because Ray gives each name to one actor.
    """

    def __init__(self, folder: Path, process: str) -> None:
        self._folder = folder
        self._process = process
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, path: str) -> Path:
        """Returns the file that lists the attempts at this picture."""
        return self._folder / hashlib.sha256(os.fsencode(path)).hexdigest()[:24]

    def deaths(self, path: str) -> int:
        """Returns how many processes died while this picture, in its present state, was in progress."""
        try:
            lines = self.file(path).read_text().splitlines()
        except FileNotFoundError:
            return 0
        stamp = _stamp(path)
        return sum(line.split(" ")[0] == stamp for line in lines)

    def begin(self, path: str) -> None:
        with open(self.file(path), "a") as log:
            log.write(f"{_stamp(path)} {self._process}\n")

    def end(self, path: str) -> None:
        self.file(path).unlink(missing_ok=True)


COLUMNS = ("path", "output", "status", "error", "milliseconds", "bytes", "hash")


def _row(path: str, told: Row) -> Row:
    return {
        "path": path,
        "output": told["output"],
        "status": told["status"],
        "error": told.get("error", {}).get("message", ""),
        "milliseconds": 1000 * told["seconds"],
        "bytes": told.get("bytes", 0),
        "hash": told.get("hash", ""),
    }


def _name_of(path: str, sub: str) -> tuple[str, str]:
    """Returns the folder and the name below it, which determine the output's name."""
    relative = os.path.normpath(os.path.join(sub, os.path.basename(path)))
    folder = path[: -len(relative)]
    if not path.endswith(relative) or (folder and not folder.endswith("/")):
        raise InvalidArgumentError(f"sub is '{sub}', but '{path}' does not lie in such a folder.")
    return folder, relative


class Filter:
    """Filters files by their names: a class for ``map_batches``, with one object per actor.

    `pipeline` is the text of ``satin run``; `output` a folder, into which {sub} of the rows leads, or a pattern such as
    ``"soft/{sub}/{stem}.png"``. Batches need a column path, and may have sub, as in the rows of :func:`satin.ray.find`.
    An actor reads ahead within a batch: choose several times as many names as the actor has CPUs, as in
    ``batch_size=64``. With GPUs Ray requires a number; without them None uses the blocks of the dataset.

    The result has a row for every input: path, output, status ('done', 'failed', 'exists' or 'unchanged'), error
    (empty, or one or two lines), milliseconds of work, and bytes and hash of the output (FNV-1a of 64 bits, 16 digits).

    device : 'cpu', 'cuda:N' or several with commas; by default the GPUs that Ray gave the actor, otherwise the CPU
    threads : number of CPU threads; by default as many as the actor has CPUs
    memory : bytes for the pictures in flight; by default the CPUs' share of a quarter of the machine's memory
    memory_limit : bytes that plans may hold on a GPU; by default the actor's share of its memory
    filesystem : a file system of pyarrow.fs for names with a scheme; by default that of the scheme
    skip_existing : skips inputs whose output exists, instead of resuming

    The other options are those of :func:`satin.batch`, except for options of a whole batch; `resume` is always on.
    Existing outputs that no manifest lists are refused without `overwrite`. A file that kills its process (a fault of a
    codec, the out-of-memory killer) is tried once more, alone; after two deaths it becomes a row with an error. The
    folder ``.satin-attempts`` beside the manifest records this: remove it to try again.

    Raises ValueError for a pipeline, a name or an option to be corrected, RuntimeError for a missing device.
    """

    @worded(batch_options)
    def __init__(
        self,
        pipeline: str,
        output: PathLike,
        *,
        device: Devices = None,
        threads: int = 0,
        memory: int = 0,
        memory_limit: int = 0,
        resume: bool = True,
        skip_existing: bool = False,
        filesystem: Optional[fs.FileSystem] = None,
        **options: Any,
    ) -> None:
        check_options({"device": device, "resume": resume, **options})
        share = share_of_actor(device, threads, memory, memory_limit)
        self._process = process_name()
        self._store: Optional[_remote.Store] = None
        if _remote.is_remote(output):
            if options.get("depth_out"):
                raise InvalidArgumentError("depth_out is not an option here: depth is written beside pictures on disks alone.")
            self._scratch = tempfile.TemporaryDirectory(prefix="satin-")
            self._store = _remote.Store(os.fspath(output), self._scratch.name, self._process, (pipeline, options), filesystem)
            output = self._store.local_output
        settings = batch_options(output, threads=share.threads, memory=share.memory, resume=not skip_existing, **options)
        settings.skip_existing, settings.manifest_part = skip_existing, self._process
        with pipeline_words():
            text = _native.Pipeline(pipeline)
        self._session = _native.BatchSession(share.devices, text, settings)
        self._attempts: Optional[Attempts] = None
        if not skip_existing and self._store is None:
            self._attempts = Attempts(Path(self._session.manifest_folder) / ".satin-attempts", self._process)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        paths = [str(path) for path in batch["path"]]
        subs = [str(sub) for sub in batch["sub"]] if "sub" in batch else ["."] * len(paths)
        if self._store is not None:
            return columns_of(self._store.filter(paths, subs, self._rows))
        rows = self._rows(dict(zip(paths, subs)))
        return columns_of([rows[path] for path in paths])

    def _rows(self, subs: dict[str, str]) -> dict[str, Row]:
        """Returns a row for each of these paths. Pictures that may have killed a process are processed alone, after the
        others."""
        rows: dict[str, Row] = {}
        names: dict[str, tuple[str, str]] = {}
        for path, sub in subs.items():
            try:
                names[path] = _name_of(path, sub)
            except ValueError as error:
                rows[path] = _remote.failed(path, str(error))
        deaths = {path: self._attempts.deaths(path) if self._attempts else 0 for path in names}
        for path in [path for path, count in deaths.items() if count >= MOST_DEATHS]:
            rows[path] = self._given_up(path)
        self._run([path for path, count in deaths.items() if count == 0], names, rows)
        for path in [path for path, count in deaths.items() if 0 < count < MOST_DEATHS]:
            self._run([path], names, rows)
        return rows

    def _run(self, paths: list[str], names: dict[str, tuple[str, str]], rows: dict[str, Row]) -> None:
        """Processes these files together. If the batch is refused before it starts, each file is tried alone."""
        if not paths:
            return

        def tell(text: str, path: Path) -> None:
            given = os.fspath(path)
            rows[given] = _row(given, row_of(text, path))
            if self._attempts is not None:
                self._attempts.end(given)

        try:
            self._session.run([names[path] for path in paths], tell, self._begin)
        except (OSError, RuntimeError, ValueError) as error:
            if len(paths) == 1:
                rows[paths[0]] = _remote.failed(paths[0], str(error))
            for path in paths if len(paths) > 1 else []:
                if path not in rows:
                    self._run([path], names, rows)
        for path in paths:
            rows.setdefault(path, _remote.failed(path, "It was not begun, as the machine failed before: " + _last_error(rows)))

    def _begin(self, path: Path) -> None:
        if self._attempts is not None:
            self._attempts.begin(os.fspath(path))

    def _given_up(self, path: str) -> Row:
        assert self._attempts is not None
        return _remote.failed(
            path,
            f"{path}: the process that worked on it died, twice: it is given up.\n"
            f"Remove {self._attempts.file(path)} to have it tried again.",
        )


def _last_error(rows: dict[str, Row]) -> str:
    return next((row["error"] for row in reversed(list(rows.values())) if row["error"]), "it was stopped.")


def columns_of(rows: Iterable[Row]) -> dict[str, Any]:
    rows = list(rows)
    kinds = {"milliseconds": numpy.float64, "bytes": numpy.int64}
    return {name: numpy.array([row[name] for row in rows], kinds.get(name, object)) for name in COLUMNS}
