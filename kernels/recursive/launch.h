#pragma once
// Launchers of recursive smoothing (recursive/recursive.h). Between the passes channels lie in planes of
// their own, of values of type Real (float or double) in squares (kernels/recursive/squares.cuh), and so do
// distances.

#include "core/maths/fixed_point.h"
#include "kernels/device/launch.h"
#include "pixels/maths/store.h"
#include "recursive/recursive.h"

namespace satin::kernels {

/// Stored pixels to and from planes.
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
  Measured* measured = nullptr;  ///< floats
};

/// Null planes: only looks for floats that are not finite.
void read_planes(const RecursivePixels& pixels, StreamHandle stream);
void store_planes(const RecursivePixels& pixels, StreamHandle stream);

/// Distances from every pixel of the guide to the one on its left and to the one above, 1 where there is
/// none, and 0 in squares beyond the picture. Null distances: only looks for floats that are not finite.
struct RecursiveGuide {
  std::int64_t width = 0;
  std::int64_t height = 0;
  Guide guide;
  Source source;
  float* along_x = nullptr;
  float* along_y = nullptr;
  Measured* measured = nullptr;  ///< floats
};

/// Does the same for a guide of bytes without alpha: the sums of differences are the codes, 0 where there is
/// no neighbour. Beyond the picture it is the code behind the last one.
struct RecursiveCodes {
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  Source source;
  std::uint16_t* along_x = nullptr;
  std::uint16_t* along_y = nullptr;
};
[[nodiscard]] SATIN_HD constexpr int recursive_codes(int channels) { return 255 * channels + 2; }

void read_codes(const RecursiveCodes& codes, StreamHandle stream);
void read_distances(const RecursiveGuide& guide, StreamHandle stream);

/// A pass along one axis, in place, or from and to stored bytes where there are these.
template <class Real>
struct RecursiveScan {
  Axis axis = Axis::x;
  std::int64_t width = 0;
  std::int64_t height = 0;
  int channels = 1;
  PassConstants<Real> constants;
  const float* distances = nullptr;      ///< along the axis, of guides without codes
  const std::uint16_t* codes = nullptr;  ///< along the axis; neither: one coefficient for all pairs
  const Real* table = nullptr;           ///< coefficients of the codes
  int table_size = 0;
  Real* planes = nullptr;
  Source source;          ///< bytes, of which a pass of floats along rows makes its values; null: the planes
  Target output;          ///< bytes without alpha or mask, of a pass of floats down columns; null: the planes
  bool weighted = false;  ///< the source's last channel is alpha
  TransferView transfer;  ///< of source and output

  [[nodiscard]] bool guided() const { return distances != nullptr || codes != nullptr; }
};

/// Values of a plane of this size.
[[nodiscard]] std::int64_t recursive_plane_size(std::int64_t width, std::int64_t height);

/// Before the first pass of a plan. Returns a cudaError_t.
[[nodiscard]] int prepare_recursive_scan(const RecursiveScan<float>& scan);
[[nodiscard]] int prepare_recursive_scan(const RecursiveScan<double>& scan);

void recursive_scan(const RecursiveScan<float>& scan, StreamHandle stream);
void recursive_scan(const RecursiveScan<double>& scan, StreamHandle stream);

}  // namespace satin::kernels
