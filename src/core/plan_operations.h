#pragma once
// Reduction that floats need before they are summed: the largest and smallest magnitudes, and whether all is
// finite.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"

namespace satin {

// Which tiles of a mask hold anything but 0.

/// Copies pixels of one type between two views of the same shape in the backend's memory, whatever their
/// strides.
struct CopyOperation : Operation {
  virtual void run(const ImageView& source, const MutableImageView& target, Stream stream) = 0;
};

struct CopyJob {
  using Operation = CopyOperation;
};

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

struct MeasureOperation;

struct MeasureJob {
  using Operation = MeasureOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  bool weighted = false;
  bool magnitudes = true;  ///< false: all that counts is whether every value is finite
  std::uint64_t at_least[2] = {0,
                               0};  ///< bits of magnitudes that are summed beside the picture: colour, alpha
};

/// `result` is one Measured in the backend's memory.
struct MeasureOperation : Operation {
  /// Sets *result to the state before anything was measured.
  virtual void clear(Measured* result, Stream stream) = 0;
  /// Float picture: magnitudes (colour * alpha as a double product if weighted) and picture_not_finite.
  /// Values that are not finite count as 0. The largest magnitudes are those of the job at least.
  virtual void measure(const ImageView& picture, Measured* result, Stream stream) = 0;
  /// Float radius map of one channel: map_out_of_range.
  virtual void check_map(const ImageView& map, Measured* result, Stream stream) = 0;
};

}  // namespace satin
