"""Files in object stores, through pyarrow.fs. Pictures pass through a local folder of the actor.

Objects beside the outputs, `.satin-manifest.PROCESS-N.jsonl`, record finished work, one object per batch. An output is
kept if one of them says that it was made from an input of this size and time by the same work, and it still has the
recorded size. (Its bytes are not read again, unlike on disks.)
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Callable, Optional

from pyarrow import fs

from satin import _native
from satin._batch import PathLike, Row
from satin._errors import FileError, MissingFileError

_MANIFEST = ".satin-manifest."
Rows = Callable[[dict[str, str]], dict[str, Row]]


def failed(path: str, error: str) -> Row:
    """Returns the row of a failed file."""
    return {"path": path, "output": "", "status": "failed", "error": error, "milliseconds": 0.0, "bytes": 0, "hash": ""}


def is_remote(name: PathLike) -> bool:
    return "://" in os.fspath(name)


System = Optional[fs.FileSystem]


def _split(name: str, system: System) -> tuple[fs.FileSystem, str, str]:
    """Returns the file system, the scheme that its names start with, and the path in it, which may be a pattern."""
    scheme, _, path = name.partition("://")
    if system is None:
        system, _ = fs.FileSystem.from_uri(f"{scheme}://{path.partition('/')[0]}")
    return system, scheme + "://", path


def _extensions() -> set[str]:
    return {each for format in _native.formats() if format["reads"] for each in format["extensions"]}


def find(name: str, recursive: bool, filesystem: System) -> list[dict[str, Any]]:
    """Returns the rows of the pictures below a folder, or of one file."""
    system, prefix, path = _split(name.rstrip("/"), filesystem)
    info = system.get_file_info(path)
    if info.type == fs.FileType.NotFound:
        raise MissingFileError(f"'{name}' does not exist.")
    if info.type == fs.FileType.File:
        return [_row(prefix, info, os.path.dirname(path))]
    known = _extensions()
    infos = system.get_file_info(fs.FileSelector(path, recursive=recursive))
    pictures = [
        each
        for each in infos
        if each.type == fs.FileType.File
        and os.path.splitext(each.path)[1].lower() in known
        and not any(part.startswith(".") for part in each.path[len(path) :].split("/"))
    ]
    if not pictures:
        raise FileError(f"There is no picture in '{name}'.")
    return sorted((_row(prefix, each, path) for each in pictures), key=lambda row: row["path"])


def _row(prefix: str, info: fs.FileInfo, folder: str) -> dict[str, Any]:
    sub = os.path.dirname(os.path.relpath(info.path, folder)) or "."
    return {"path": prefix + info.path, "sub": sub, "size": info.size, "mtime": info.mtime_ns or 0}


class Store:
    """The outputs of one actor."""

    def __init__(self, output: str, scratch: str, process: str, work: Any, filesystem: System) -> None:
        self._given = filesystem
        self._system, self._prefix, pattern = _split(output, filesystem)
        self._scratch = Path(scratch)
        self._process, self._pieces = process, 0
        self._work = hashlib.sha256(repr((work, _native.version)).encode()).hexdigest()[:16]
        self._folder = pattern.partition("{")[0].rpartition("/")[0] if "{" in pattern else pattern.rstrip("/")
        self.local_output = str(self._scratch / "out" / pattern)
        self._made: dict[str, list[Row]] = {}
        for info in self._system.get_file_info(fs.FileSelector(self._folder, allow_not_found=True)):
            if os.path.basename(info.path).startswith(_MANIFEST):
                self._read(info.path)

    def _read(self, manifest: str) -> None:
        with self._system.open_input_stream(manifest) as lines:
            for line in lines.read().decode().splitlines():
                made = json.loads(line)
                self._made.setdefault(made["path"], []).append(made)

    def filter(self, paths: list[str], subs: list[str], rows_of: Rows) -> list[Row]:
        """Returns a row for each path. Pictures that are not done yet are downloaded, filtered by `rows_of`, and
        uploaded."""
        stamps = {path: self._stamp(path) for path in paths}
        rows = {path: row for path in paths if (row := self._unchanged(path, stamps[path])) is not None}
        local: dict[str, str] = {}
        wanted: dict[str, str] = {}
        for path, sub in zip(paths, subs):
            if path in rows:
                continue
            try:
                local[path] = self._fetch(path)
                wanted[local[path]] = sub
            except OSError as error:
                rows[path] = failed(path, f"{path}: {error}")
        made = rows_of(wanted) if wanted else {}
        for path, here in local.items():
            rows[path] = self._take_back(path, here, made[here])
        self._record([{**rows[path], "stamp": stamps[path], "work": self._work} for path in local])
        return [rows[path] for path in paths]

    def _stamp(self, path: str) -> str:
        system, _, name = _split(path, self._given)
        info = system.get_file_info(name)
        return f"{info.size}-{info.mtime_ns}"

    def _unchanged(self, path: str, stamp: str) -> Any:
        for made in self._made.get(path, ()):
            if (made["stamp"], made["work"]) != (stamp, self._work):
                continue
            info = self._system.get_file_info(_split(made["output"], self._system)[2])
            if info.size == made["bytes"]:
                row = {key: value for key, value in made.items() if key not in ("stamp", "work")}
                return {**row, "status": "unchanged", "milliseconds": 0.0}
        return None

    def _fetch(self, path: str) -> str:
        system, _, name = _split(path, self._given)
        here = self._scratch / "in" / name
        here.parent.mkdir(parents=True, exist_ok=True)
        with system.open_input_stream(name) as stream, open(here, "wb") as file:
            while block := stream.read(1 << 20):
                file.write(block)
        return str(here)

    def _take_back(self, path: str, here: str, row: Row) -> Row:
        """Uploads the output and returns the row with the caller's names."""
        os.unlink(here)
        made = row["output"]
        output = made.replace(str(self._scratch / "out") + "/", "").replace(str(self._scratch / "in") + "/", "")
        error = row["error"].replace(here, path).replace(made, self._prefix + output) if made else row["error"]
        row = {**row, "path": path, "output": self._prefix + output if made else "", "error": error}
        if row["status"] == "failed":
            return row
        try:
            self._system.create_dir(os.path.dirname(output), recursive=True)
            with open(made, "rb") as file, self._system.open_output_stream(output) as stream:
                while block := file.read(1 << 20):
                    stream.write(block)
        except OSError as error:
            return {**row, "status": "failed", "error": f"{row['output']}: {error}"}
        finally:
            os.unlink(made)
        return {**row, "status": "done"}

    def _record(self, rows: list[Row]) -> None:
        done = [row for row in rows if row["status"] == "done"]
        if not done:
            return
        self._pieces += 1
        name = f"{self._folder}/{_MANIFEST}{self._process}-{self._pieces}.jsonl"
        with self._system.open_output_stream(name) as stream:
            stream.write("".join(json.dumps(row) + "\n" for row in done).encode())
        for row in done:
            self._made.setdefault(row["path"], []).append(row)
