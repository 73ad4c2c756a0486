// One threshold for all pixels, and the counts that it is chosen from.

#include <algorithm>
#include <functional>
#include <limits>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/cpu/backend.h"
#include "core/cpu/plane_rows.h"

namespace satin::cpu {
namespace {

class Level final : public LevelOperation {
 public:
  Level(CpuBackend& backend, const LevelJob& job) : backend_(backend), job_(job) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  Quantised count(const ImageView& picture, const Measured* measured, std::uint64_t* counts,
                  Stream) override {
    const int exponent = plane_exponent(job_.plane, measured);
    const std::size_t codes = codes_of(job_.plane.type);
    std::fill_n(counts, codes, 0);
    std::mutex mutex;
    parallel_rows(backend_, picture.shape.height, 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<std::uint64_t> own(codes);
      if (job_.plane.type == Type::u8) {
        count_rows<std::uint8_t>(picture, exponent, first, last, own);
      } else {
        count_rows<std::uint32_t>(picture, exponent, first, last, own);
      }
      const std::lock_guard lock(mutex);
      std::transform(own.begin(), own.end(), counts, counts, std::plus<>());
    });
    return quantised(job_.plane, exponent);
  }

  void run(const ImageView& picture, double level, const MutableImageView& output, Stream) override {
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t y = first; y < last; ++y) compare_row(picture, y, level, output.row<std::uint8_t>(y));
    });
  }

 private:
  /// Integer is wide enough for the plane's values.
  template <class Integer>
  void count_rows(const ImageView& picture, int exponent, std::int64_t first, std::int64_t last,
                  std::vector<std::uint64_t>& counts) const {
    std::vector<Integer> row(static_cast<std::size_t>(picture.shape.width));
    for (std::int64_t y = first; y < last; ++y) {
      read_quantised(job_.plane, exponent, picture, y, row.data());
      for (const Integer value : row) ++counts[code_of(value)];
    }
  }

  /// True if every integer of the type is above the level.
  template <class T>
  static bool below_all(double level) {
    return std::is_integral_v<T> && level < 0;
  }

  /// Integers are above the level if they are above the largest integer that is not.
  template <class T>
  static auto limit_of(double level) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(std::min<double>(level, std::numeric_limits<T>::max()));
    } else {
      return level;
    }
  }

  /// out[x] = which side value_at(x) of type T is on.
  template <class T, class ValueAt>
  void compare(double level, std::uint8_t* out, const ValueAt& value_at) const {
    const auto above = static_cast<std::uint8_t>(job_.inverted ? 0 : 255);
    const auto below = static_cast<std::uint8_t>(255 - above);
    const std::int64_t width = job_.width;  // a copy: bytes that are written could be the job's
    if (below_all<T>(level)) {
      std::fill_n(out, width, above);
      return;
    }
    const auto limit = limit_of<T>(level);
    for (std::int64_t x = 0; x < width; ++x) out[x] = value_at(x) > limit ? above : below;
  }

  void compare_row(const ImageView& picture, std::int64_t y, double level, std::uint8_t* out) const {
    const PlaneRead plane = job_.plane;
    if (plane.type == Type::u8 && plane.channels >= 3) {
      take_plane(picture.row<std::uint8_t>(y), static_cast<std::size_t>(job_.width), plane, out);
      return compare<std::uint8_t>(level, out, [out](std::int64_t x) { return out[x]; });
    }
    with_plane_row(plane, picture, y, [&]<class T>(const T* row) {
      if (plane.channels == 1) return compare<T>(level, out, [row](std::int64_t x) { return row[x]; });
      compare<T>(level, out,
                 [row, plane](std::int64_t x) { return plane_value(row + x * plane.channels, plane); });
    });
  }

  CpuBackend& backend_;
  LevelJob job_;
};

}  // namespace

std::unique_ptr<LevelOperation> prepare_level(Backend& backend, const LevelJob& job) {
  return std::make_unique<Level>(as_cpu(backend), job);
}

}  // namespace satin::cpu
