#pragma once
// Launch functions of recursive smoothing (recursive/recursive.h). Between passes each channel is a plane of
// float or double values in Squares, and so are distances.

#include <cstdint>

#include "core/maths/fixed_point.h"
#include "core/maths/hd.h"
#include "kernels/device/launch.h"
#include "pixels/maths/store.h"
#include "recursive/recursive.h"

namespace satin::kernels {

/// The order of a plane's values: squares of 32 rows and 8 columns, one after the other. A thread reads a
/// column of 32 pixels at constant offsets, and every row of a square is one sector of floats or two of
/// doubles.
struct Squares {
  static constexpr int columns = 8;
  static constexpr int rows = 32;
  static constexpr int values = columns * rows;

  std::int64_t across;
  std::int64_t down;

  SATIN_HD Squares(std::int64_t width, std::int64_t height)
      : across((width + rows - 1) / rows * (rows / columns)), down((height + rows - 1) / rows) {}

  /// Returns the number of values of a plane, including those beyond the picture.
  [[nodiscard]] SATIN_HD std::int64_t size() const { return across * down * values; }

  [[nodiscard]] SATIN_HD std::int64_t at(std::int64_t x, std::int64_t y) const {
    return (y / rows * across + x / columns) * values + y % rows * columns + x % columns;
  }
};

/// Stored pixels and their planes.
struct RecursivePixels {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Type type = Type::u8;
  StoreRule rule;
  Source source;
  Source mask;
  Target output;
  void* planes = nullptr;
  Measured* measured = nullptr;  ///< for floats
};

/// Reads stored pixels into planes; without planes, only looks for floats that are not finite.
void read_planes(const RecursivePixels& pixels, StreamHandle stream);
void store_planes(const RecursivePixels& pixels, StreamHandle stream);

/// Distances from every pixel of the guide to the left one and to the one above, 1 where there is none, and 0
/// in squares beyond the picture. Without memory for distances, only looks for floats that are not finite.
struct RecursiveGuide {
  std::int64_t width = 0;
  std::int64_t height = 0;
  Guide guide;
  Source source;
  float* along_x = nullptr;
  float* along_y = nullptr;
  Measured* measured = nullptr;  ///< for floats
};

void read_distances(const RecursiveGuide& guide, StreamHandle stream);

/// A pass along one axis of the planes, in place, or from and to stored bytes.
template <class Real>
struct RecursiveScan {
  Axis axis = Axis::x;
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  PassConstants<Real> constants;
  const float* distances = nullptr;  ///< distances along the axis; none: one coefficient for all pairs
  Real* planes = nullptr;
  Source source;  ///< bytes to read, for a pass of floats along rows; null: read the planes
  Target output;  ///< bytes to write, without alpha and mask, for floats down columns; null: the planes
  bool weighted = false;  ///< the source's last channel is alpha
  TransferView transfer;  ///< transfer function of source and output

  [[nodiscard]] bool guided() const { return distances != nullptr; }
};

/// Prepares the kernels of a scan; call it before the first one. Returns a cudaError_t.
[[nodiscard]] int prepare_recursive_scan(const RecursiveScan<float>& scan);
[[nodiscard]] int prepare_recursive_scan(const RecursiveScan<double>& scan);

void recursive_scan(const RecursiveScan<float>& scan, StreamHandle stream);
void recursive_scan(const RecursiveScan<double>& scan, StreamHandle stream);

}  // namespace satin::kernels
