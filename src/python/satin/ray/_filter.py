"""The actor that filters files by their names."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Iterable, Optional

import numpy
from pyarrow import fs

from satin import _native
from satin._batch import PathLike, Row, batch_options, row_of
from satin._pipeline import pipeline_words
from satin._words import worded
from satin.ray import _remote
from satin.ray._attempts import MOST_DEATHS, Attempts, process_name
from satin.ray._share import Devices, check_options, share_of_actor

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
    """Folder and name below it, of which a batch makes the output's name."""
    relative = os.path.normpath(os.path.join(sub, os.path.basename(path)))
    folder = path[: -len(relative)]
    if not path.endswith(relative) or (folder and not folder.endswith("/")):
        raise ValueError(f"sub is '{sub}', but '{path}' does not lie in such a folder.")
    return folder, relative


class Filter:
    """Filters files by their names: a class for ``map_batches``, of which every actor makes one.

    `pipeline` is the text of ``satin run``; `output` a folder, into which {sub} of the rows leads, or a pattern such as
    ``"soft/{sub}/{stem}.png"``. Batches need a column path, and may have sub, as :func:`satin.ray.find` gives them. An
    actor reads ahead within a batch: let it have several times as many names as the actor has CPUs, as in
    ``batch_size=64``. For GPUs Ray wants a number; without them None takes the blocks of the dataset as they are.

    Out comes a row for every input: path, output, status ('done', 'failed', 'exists' or 'unchanged'), error (empty, or one
    or two lines), milliseconds of work, and bytes and hash of the output (FNV-1a of 64 bits, 16 digits).

    device : 'cpu', 'cuda:N' or several with commas; by default the GPUs that Ray gave the actor, otherwise the CPU
    threads : of the CPU; by default as many as the actor has CPUs
    memory : bytes for the pictures in flight; by default the CPUs' part of a quarter of the machine's
    memory_limit : bytes of a GPU that plans may hold; by default the actor's part of it
    filesystem : of pyarrow.fs, for names with a scheme; by default what the scheme says
    skip_existing : leaves out inputs whose output exists, whatever it is, in place of resuming

    The other options are those of :func:`satin.batch`, except for what is of a whole batch; `resume` is always on. Outputs
    that exist and that no manifest knows are refused without `overwrite`. A file that kills its process (a fault of a codec, the memory killer) is tried once more, alone; after two
    deaths it is a row. What tells so lies in the folder ``.satin-attempts`` beside the manifest: remove it to try again.

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
                raise ValueError("depth_out is not an option here: depth is written beside pictures on disks alone.")
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
        """A row for each of these paths. Those that may have killed a process are done alone, behind the others."""
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
        """Does these files together. What is refused before any is begun is told by each file alone."""
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
