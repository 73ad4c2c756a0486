"""Nodes of ComfyUI: depth of field, blur by a map, median and threshold, for pictures and batches.

Copy this folder to ComfyUI's custom_nodes, and install Satin into its Python (pip install satin-image). The nodes are in
the category Satin. Their tests call them as ComfyUI does, on arrays; they have not been run inside ComfyUI.

ComfyUI's pictures are sRGB values from 0 to 1. They are filtered as 16 bits, so that means are those of light.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import satin

WHITE = 65535


def codes_of(tensor: Any) -> np.ndarray:
    """Values from 0 to 1 as 16 bits, of a tensor on any device."""
    return np.rint(np.clip(np.asarray(tensor.cpu()), 0, 1) * WHITE).astype(np.uint16)


def tensor_of(codes: np.ndarray) -> Any:
    """Codes as a tensor of values from 0 to 1."""
    import torch  # ComfyUI has it

    return torch.from_numpy(codes.astype(np.float32) / np.iinfo(codes.dtype).max)


def plane_of(tensor: Any) -> np.ndarray:
    """A mask (frames, height, width), or the first channel of a picture, as frames of one channel."""
    codes = codes_of(tensor)
    return codes[..., :1] if codes.ndim == 4 else codes.reshape(-1, *codes.shape[-2:], 1)


def planes(**tensors: Any) -> dict[str, np.ndarray]:
    """The side inputs that are connected."""
    return {name: plane_of(tensor) for name, tensor in tensors.items() if tensor is not None}


def number(default: float, least: float, most: float, step: float, tooltip: str) -> tuple[str, dict[str, Any]]:
    kind = "INT" if isinstance(step, int) else "FLOAT"
    return kind, {"default": default, "min": least, "max": most, "step": step, "tooltip": tooltip}


class Node:
    CATEGORY = "Satin"
    FUNCTION = "run"
    RETURN_TYPES: tuple[str, ...] = ("IMAGE",)
    REQUIRED: dict[str, Any] = {}
    OPTIONAL: dict[str, Any] = {"mask": ("MASK", {"tooltip": "where the filter acts"})}

    @classmethod
    def INPUT_TYPES(cls) -> dict[str, Any]:  # noqa: N802: ComfyUI's name
        return {"required": {"image": ("IMAGE",), **cls.REQUIRED}, "optional": cls.OPTIONAL}


class DepthOfField(Node):
    REQUIRED = {
        "depth": ("IMAGE", {"tooltip": "disparities, white is near, as nodes that estimate depth make them"}),
        "strength": number(24.0, 0.0, 500.0, 0.5, "radius in pixels that a difference of depth from black to white gives"),
        "focus": number(0.5, 0.0, 1.0, 0.01, "depth that is sharp"),
        "invert_depth": ("BOOLEAN", {"default": False, "tooltip": "black is near"}),
        "highlights": number(4.0, 1.0, 16.0, 0.5, "how much brighter lamps were than white; 1: as white"),
    }

    def run(self, image: Any, depth: Any, strength: float, focus: float, invert_depth: bool, highlights: float,
            mask: Any = None) -> tuple[Any]:
        result = satin.dof(codes_of(image), strength=strength, focus=focus, invert_depth=invert_depth,
                           highlights=highlights, **planes(depth=depth, mask=mask))
        return (tensor_of(result),)


class BlurByMap(Node):
    REQUIRED = {
        "radius_map": ("MASK",),
        "radius_min": number(0.0, 0.0, 500.0, 0.5, "radius in pixels where the map is 0"),
        "radius_max": number(32.0, 0.0, 500.0, 0.5, "radius in pixels where the map is 1"),
    }

    def run(self, image: Any, radius_map: Any, radius_min: float, radius_max: float, mask: Any = None) -> tuple[Any]:
        result = satin.blur(codes_of(image), radius_min=radius_min, radius_max=radius_max,
                            **planes(radius_map=radius_map, mask=mask))
        return (tensor_of(result),)


class Median(Node):
    REQUIRED = {
        "radius": number(3, 0, 500, 1, "radius of the window in pixels"),
        "percent": number(50.0, 0.0, 100.0, 0.5, "percentile: 0 is the smallest value, 50 the median"),
    }

    def run(self, image: Any, radius: int, percent: float, mask: Any = None) -> tuple[Any]:
        return (tensor_of(satin.median(codes_of(image), radius, percent=percent, **planes(mask=mask))),)


class Threshold(Node):
    RETURN_TYPES = ("MASK",)
    OPTIONAL: dict[str, Any] = {}
    REQUIRED = {
        "method": (["otsu", "bradley", "niblack", "sauvola", "wolf", "nick"],),
        "window": number(31, 3, 1001, 2, "side of the window in pixels, an odd number"),
        "invert": ("BOOLEAN", {"default": False}),
    }

    def run(self, image: Any, method: str, window: int, invert: bool) -> tuple[Any]:
        result = satin.threshold(codes_of(image), method=method, window=window, invert=invert)
        return (tensor_of(result.reshape(result.shape[:3])),)


NODES = {"depth of field": DepthOfField, "blur by map": BlurByMap, "median": Median, "threshold": Threshold}
NODE_CLASS_MAPPINGS = {"Satin" + node.__name__: node for node in NODES.values()}
NODE_DISPLAY_NAME_MAPPINGS = {"Satin" + node.__name__: "Satin " + name for name, node in NODES.items()}
