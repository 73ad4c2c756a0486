// Magnitudes and finiteness of pictures of floats on the CPU, compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/measure.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/cpu/backend.h"
#include "core/plan_operations.h"
#include "pixels/cpu/measure-inl.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

constexpr Measured nothing_measured{{0, 0}, {~0ULL, ~0ULL}, 0, 0, 0};

inline void include(Measured& found, int group, const Magnitudes& magnitudes) {
  if (magnitudes.largest == 0) return;
  found.largest[group] = std::max(found.largest[group], bits_of(magnitudes.largest));
  found.smallest[group] = std::min(found.smallest[group], bits_of(magnitudes.smallest));
}

inline void merge(Measured& into, const Measured& from) {
  for (int group = 0; group < 2; ++group) {
    into.largest[group] = std::max(into.largest[group], from.largest[group]);
    into.smallest[group] = std::min(into.smallest[group], from.smallest[group]);
  }
  into.picture_not_finite |= from.picture_not_finite;
  into.map_out_of_range |= from.map_out_of_range;
}

class Measure final : public MeasureOperation {
 public:
  Measure(CpuBackend& backend, const MeasureJob& job) : backend_(backend), job_(job) {}

  void clear(Measured* result, Stream) override { *result = nothing_measured; }

  void measure(const ImageView& picture, Measured* result, Stream) override {
    for (int group = 0; group < 2; ++group)
      result->largest[group] = std::max(result->largest[group], job_.at_least[group]);
    reduce(result, job_.height, [&](Measured& found, std::int64_t y) {
      const float* row = picture.row<float>(y);
      if (!job_.magnitudes) return check_finite(found, row);
      measure_magnitudes(found, row);
    });
  }

  void check_map(const ImageView& map, Measured* result, Stream) override {
    reduce(result, map.shape.height, [&](Measured& found, std::int64_t y) {
      const float* row = map.row<float>(y);
      for (std::int64_t x = 0; x < map.shape.width; ++x)
        if (!(row[x] >= 0.0F && row[x] <= 1.0F)) found.map_out_of_range = 1;
    });
  }

 private:
  void check_finite(Measured& found, const float* row) const {
    unsigned others = 0;
    for (std::int64_t i = 0; i < job_.width * job_.channels; ++i)
      others |= static_cast<unsigned>(!(std::fabs(row[i]) <= std::numeric_limits<float>::max()));
    found.picture_not_finite |= others;
  }

  void measure_magnitudes(Measured& found, const float* row) const {
    const auto width = static_cast<std::size_t>(job_.width);
    FloatRange range;
    if (job_.weighted) {
      MeasureWeightedRow(row, width, job_.channels, range);
    } else {
      MeasureRow(row, width * static_cast<std::size_t>(job_.channels), range);
    }
    include(found, 0, range.colours);
    include(found, 1, range.alphas);
    found.picture_not_finite |= range.others ? 1U : 0U;
  }

  template <class Row>
  void reduce(Measured* result, std::int64_t height, const Row& row) {
    std::mutex mutex;
    parallel_rows(backend_, height, 16, [&](std::int64_t first, std::int64_t last) {
      Measured found = nothing_measured;
      for (std::int64_t y = first; y < last; ++y) row(found, y);
      const std::lock_guard lock(mutex);
      merge(*result, found);
    });
  }

  CpuBackend& backend_;
  MeasureJob job_;
};

inline Prepared<MeasureJob> PrepareMeasure(Backend& backend, const MeasureJob& job) {
  return std::make_unique<Measure>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareMeasure);

Prepared<MeasureJob> prepare_measure(Backend& backend, const MeasureJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareMeasure)(backend, job);
}

}  // namespace satin::cpu
#endif
