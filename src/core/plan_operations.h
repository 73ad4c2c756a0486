#pragma once
// The operations that a plan needs beside those of its filter: copies, the active tiles of a mask, and the
// measures of floats.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/operation.h"

namespace satin {

/// Copies pixels between two views of one shape, of any strides, in the backend's memory.
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
  std::int64_t tile = 0;  ///< side of a tile, a multiple of 64; tiles at the right and bottom may be smaller
};

struct ActiveTilesOperation : Operation {
  /// Starts the search, without waiting.
  virtual void find(const ImageView& mask, Stream stream) = 0;
  /// Waits for the last find(). Sets one value for each tile, row by row, in host memory: 0 if all of the
  /// tile is 0.
  virtual void fetch(std::uint8_t* active, Stream stream) = 0;
  void run(const ImageView& mask, std::uint8_t* active, Stream stream) {
    find(mask, stream);
    fetch(active, stream);
  }
};

/// Finds what floats need before they are summed: the largest and smallest magnitude, and whether all are
/// finite.
struct MeasureOperation;

struct MeasureJob {
  using Operation = MeasureOperation;

  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  bool weighted = false;
  bool magnitudes = true;  ///< false: only whether every value is finite
  /// Lower bounds of the largest magnitudes, as bits of doubles: of values summed besides the picture.
  /// Colour, alpha.
  std::uint64_t at_least[2] = {0, 0};
};

/// Results are one Measured in the backend's memory.
struct MeasureOperation : Operation {
  /// Sets *result to that of an empty picture.
  virtual void clear(Measured* result, Stream stream) = 0;
  /// Adds the magnitudes of a float picture (products with alpha in double if weighted) and
  /// picture_not_finite. Values that are not finite count as 0.
  virtual void measure(const ImageView& picture, Measured* result, Stream stream) = 0;
  /// Adds map_out_of_range of a float radius map with one channel.
  virtual void check_map(const ImageView& map, Measured* result, Stream stream) = 0;
};

}  // namespace satin
