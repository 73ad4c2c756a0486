"""The attempts log: which files are being worked on, and how often a process has died of one."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

MOST_DEATHS = 2


def process_name() -> str:
    """A name for this process that no other one has on any machine, of letters that every file system takes."""
    host = "".join(letter if letter.isalnum() else "-" for letter in socket.gethostname())
    return f"{host}-{os.getpid()}-{os.urandom(4).hex()}"


def _stamp(path: str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return "none"
    return f"{status.st_size}-{status.st_mtime_ns}"


class Attempts:
    """A small file for every picture that has been begun and not ended, with a line for each attempt.

    A line is there before its picture is opened and goes when the picture has its row, so what an earlier process left is
    a death. Lines tell the picture's size and time: a picture that has been replaced begins anew. Nothing is locked: no two
    processes write the file of one picture at a time, because Ray gives a name to one actor.
    """

    def __init__(self, folder: Path, process: str) -> None:
        self._folder = folder
        self._process = process
        folder.mkdir(parents=True, exist_ok=True)

    def file(self, path: str) -> Path:
        """The file that lists the attempts at this picture."""
        return self._folder / hashlib.sha256(os.fsencode(path)).hexdigest()[:24]

    def deaths(self, path: str) -> int:
        """Number of processes that died of this picture as it is now, or beside it."""
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
