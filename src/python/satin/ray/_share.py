"""The share of its machine that an actor may use, by the resources that Ray gave it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Union

import ray

from satin import _native

Devices = Union[None, str, Sequence[str]]

_USUAL_MEMORY = 0.25  # of the machine, for pictures in flight: the part that the command takes


@dataclass
class Share:
    """Devices, threads and memory of one actor."""

    devices: list[_native.Device]
    threads: int  #: of the CPU; 0: all
    memory: int  #: bytes for pictures in flight; 0: the usual part of the machine


def _assigned() -> dict[str, float]:
    """The resources that Ray gave this process; empty outside of Ray's tasks and actors."""
    context = ray.get_runtime_context() if ray.is_initialized() else None
    return context.get_assigned_resources() if context is not None and context.get_task_id() is not None else {}


def _open(name: str, threads: int, memory_limit: int, share: float) -> _native.Device:
    device = _native.Device(name, threads)
    limit = memory_limit or (int(share * device.memory) if share < 1 and device.id != "cpu" else 0)
    device.limit_memory(limit)
    return device


_OF_BATCH = {
    "fail_fast": "let `finished` raise where a row has failed",
    "gallery": "satin.batch(..., resume=True, gallery=...) makes the page afterwards",
    "shard": "Ray shares the files out among its actors",
}
_OF_RUN = dict.fromkeys(("finished", "progress", "recursive", "report"), "it is one of satin.ray.run")


def check_options(options: dict[str, Any], of_run: bool = False) -> None:
    """Refuses options of satin.batch that an actor, or satin.ray.run, does not have."""
    for name, reason in (_OF_BATCH if of_run else {**_OF_BATCH, **_OF_RUN}).items():
        if name in options:
            raise ValueError(f"{name} is not an option here: {reason}.")
    device = options.get("device")
    if device is not None and not all(isinstance(each, str) for each in ([device] if isinstance(device, str) else device)):
        raise ValueError("Every actor opens devices of its own: pass their names, such as 'cuda:0'.")
    if not options.get("resume", True):
        raise ValueError("Actors always resume, because Ray starts those that died again: leave resume out.")


def share_of_actor(device: Devices, threads: int, memory: int, memory_limit: int) -> Share:
    """Ray sets CUDA_VISIBLE_DEVICES, so the GPUs of an actor are the first ones that it sees. An actor with a part of a
    GPU holds that part of its memory at most, unless a limit is told; without a GPU the CPU filters."""
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
