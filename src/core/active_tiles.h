#pragma once
// Which tiles of a mask hold anything but 0.

#include <cstdint>

#include "core/operation.h"

namespace satin {

struct ActiveTilesOperation;

struct ActiveTilesJob {
  using Operation = ActiveTilesOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  Type type = Type::u8;   ///< u8 or u16
  std::int64_t tile = 0;  ///< side of a tile, a multiple of 64; those at the right and below may be cut
};

struct ActiveTilesOperation : Operation {
  /// Looks for them, without waiting.
  virtual void find(const ImageView& mask, Stream stream) = 0;
  /// Waits for the last find(). `active`, in host memory, has one value a tile, row by row, 0 where all of
  /// the tile is 0.
  virtual void fetch(std::uint8_t* active, Stream stream) = 0;
  void run(const ImageView& mask, std::uint8_t* active, Stream stream) {
    find(mask, stream);
    fetch(active, stream);
  }
};

}  // namespace satin
