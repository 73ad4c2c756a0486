"""Exceptions of the package. Each one is also the built-in exception that Python's own functions raise."""

from __future__ import annotations

__all__ = ["DeviceError", "Error", "ExistingFileError", "FileError", "InvalidArgumentError", "MissingFileError"]


class Error(Exception):
    """Base of what Satin raises, apart from TypeError and MemoryError."""


class InvalidArgumentError(Error, ValueError):
    """An argument, or a picture's values, that a function cannot use."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist."""


class ExistingFileError(InvalidArgumentError, FileExistsError):
    """An output that exists, without `overwrite`."""


class DeviceError(Error, RuntimeError):
    """A device, a library, memory or disk space that is missing."""
