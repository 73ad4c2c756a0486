#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include "core/cpu/backend.h"

namespace satin::cpu {
namespace {

constexpr Measured nothing_measured{{0, 0}, {~0ULL, ~0ULL}, 0, 0, 0};

void include(Measured& found, int group, double value) {
  if (value == 0) return;
  const std::uint64_t bits = bits_of(std::fabs(value));
  found.largest[group] = std::max(found.largest[group], bits);
  found.smallest[group] = std::min(found.smallest[group], bits);
}

void merge(Measured& into, const Measured& part) {
  for (int group = 0; group < 2; ++group) {
    into.largest[group] = std::max(into.largest[group], part.largest[group]);
    into.smallest[group] = std::min(into.smallest[group], part.smallest[group]);
  }
  into.picture_not_finite |= part.picture_not_finite;
  into.map_out_of_range |= part.map_out_of_range;
}

class Measure final : public MeasureOperation {
 public:
  Measure(CpuBackend& backend, const MeasureJob& job) : backend_(backend), job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void clear(Measured* result, Stream) override { *result = nothing_measured; }

  void measure(const ImageView& picture, Measured* result, Stream) override {
    for (int group = 0; group < 2; ++group)
      result->largest[group] = std::max(result->largest[group], job_.at_least[group]);
    reduce(result, [&](Measured& found, std::int64_t y) {
      const float* row = picture.row<float>(y);
      if (!job_.magnitudes) return check_finite(found, row);
      for (std::int64_t x = 0; x < job_.width; ++x) measure_pixel(found, row + x * job_.channels);
    });
  }

  void check_map(const ImageView& map, Measured* result, Stream) override {
    reduce(result, [&](Measured& found, std::int64_t y) {
      const float* row = map.row<float>(y);
      for (std::int64_t x = 0; x < job_.width; ++x)
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

  void measure_pixel(Measured& found, const float* pixel) const {
    const int alpha = job_.weighted ? job_.channels - 1 : -1;
    for (int c = 0; c < job_.channels; ++c) {
      if (!std::isfinite(pixel[c])) {
        found.picture_not_finite = 1;
      } else if (!job_.weighted || c == alpha) {
        include(found, c == alpha ? 1 : 0, static_cast<double>(pixel[c]));
      } else if (std::isfinite(pixel[alpha])) {
        include(found, 0, static_cast<double>(pixel[c]) * static_cast<double>(pixel[alpha]));
      }
    }
  }

  template <class Row>
  void reduce(Measured* result, const Row& row) {
    std::mutex mutex;
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      Measured found = nothing_measured;
      for (std::int64_t y = first; y < last; ++y) row(found, y);
      const std::lock_guard lock(mutex);
      merge(*result, found);
    });
  }

  CpuBackend& backend_;
  MeasureJob job_;
};

}  // namespace

std::unique_ptr<MeasureOperation> prepare_measure(Backend& backend, const MeasureJob& job) {
  return std::make_unique<Measure>(as_cpu(backend), job);
}

}  // namespace satin::cpu
