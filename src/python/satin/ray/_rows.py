"""The row of the report on every file."""

from __future__ import annotations

from satin._batch import Row

COLUMNS = ("path", "output", "status", "error", "milliseconds", "bytes", "hash")


def failed(path: str, error: str) -> Row:
    return {"path": path, "output": "", "status": "failed", "error": error, "milliseconds": 0.0, "bytes": 0, "hash": ""}
