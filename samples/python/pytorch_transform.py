"""A transform for a dataset of PyTorch: pictures out of focus by chance, where they lie.

    python pytorch_transform.py FOLDER

FOLDER holds scene.png, as satin_render_scene makes it.
"""
# %% A transform is a call from tensor to tensor. Satin takes tensors of the CPU and of a GPU where they lie.
from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset

import satin


class RandomBlur:
    """Blurs uint8 or float32 tensors (channels, height, width) or (batch, channels, height, width) by a radius drawn from
    0 to `largest`. Values from 0 to 1 of a decoded file are sRGB, so they are averaged as encoded."""

    def __init__(self, largest: float = 4, generator: torch.Generator | None = None) -> None:
        self.largest = largest
        self.generator = generator

    def __call__(self, image: torch.Tensor) -> torch.Tensor:
        radius = self.largest * torch.rand((), generator=self.generator).item()
        layout = "NCHW" if image.ndim == 4 else "CHW"
        space = "encoded" if image.is_floating_point() else "linear"
        return satin.blur(image, radius, layout=layout, space=space)


# %% A dataset of one picture, cut into tiles.
class Tiles(Dataset):
    """Tiles of 64 x 64 pixels."""

    def __init__(self, image: torch.Tensor, transform: RandomBlur) -> None:
        rows, columns = image.shape[1] // 64, image.shape[2] // 64
        self.tiles = [image[:, 64 * y : 64 * y + 64, 64 * x : 64 * x + 64] for y in range(rows) for x in range(columns)]
        self.transform = transform

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, index: int) -> torch.Tensor:
        return self.transform(self.tiles[index])


# %% The loader's own processes each open the device of their own; the tensors stay torch's.
image = torch.from_numpy(satin.read(Path(sys.argv[1]) / "scene.png")).permute(2, 0, 1)
generator = torch.Generator().manual_seed(1)
batches = list(DataLoader(Tiles(image, RandomBlur(4, generator)), batch_size=8))
print(f"{len(batches)} batches of {tuple(batches[0].shape)} {batches[0].dtype} on {batches[0].device}")

# %% A whole batch at once has one radius, and is filtered in one call.
soft = RandomBlur(4, generator)(batches[0])
assert soft.shape == batches[0].shape and soft.dtype == torch.uint8
