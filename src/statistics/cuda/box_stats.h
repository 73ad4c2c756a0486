#pragma once
// The ways to local statistics. Those that are not for every job return null where they are not for this one.

#include <memory>

#include "core/cuda/backend.h"
#include "statistics/box_stats.h"

namespace satin::cuda {

std::unique_ptr<BoxStatsOperation> prepare_box_stats_running(CudaBackend& backend, const BoxStatsJob& job);
std::unique_ptr<BoxStatsOperation> prepare_box_stats_table(CudaBackend& backend, const BoxStatsJob& job);

/// The largest value of the quantised plane.
[[nodiscard]] std::uint64_t largest_value(const PlaneRead& plane);

/// The job's plane as dense rows of u8, u16 or, for floats, u32: the picture itself where it is that, or
/// where several colours of integers are wanted.
class QuantisedPlane {
 public:
  QuantisedPlane(CudaBackend& backend, const BoxStatsJob& job);

  [[nodiscard]] std::size_t bytes() const noexcept;
  [[nodiscard]] static Type type_of(const PlaneRead& plane);
  [[nodiscard]] ImageView of(const ImageView& picture, const Measured* measured, Stream stream);

 private:
  CudaBackend& backend_;
  BoxStatsJob job_;
  Image plane_;  ///< empty: the picture serves
};

}  // namespace satin::cuda
