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
      for (std::int64_t y = first; y < last; ++y) {
        auto* out = output.row<std::uint8_t>(y);
        if (job_.plane.type == Type::u8 && job_.plane.channels >= 3) {
          take_plane(picture.row<std::uint8_t>(y), static_cast<std::size_t>(job_.width), job_.plane, out);
          compare_in_place(level, out);
        } else {
          with_plane_row(job_.plane, picture, y, [&](const auto* row) { compare_row(row, level, out); });
        }
      }
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

  template <class T>
  void compare_row(const T* row, double level, std::uint8_t* out) const {
    const auto above = static_cast<std::uint8_t>(job_.inverted ? 0 : 255);
    const auto below = static_cast<std::uint8_t>(255 - above);
    const std::int64_t width = job_.width;  // copies: bytes that are written could be the job's
    const PlaneRead plane = job_.plane;
    if (below_all<T>(level)) {
      std::fill_n(out, width, above);
      return;
    }
    const auto limit = limit_of<T>(level);
    if (plane.channels == 1) {
      for (std::int64_t x = 0; x < width; ++x) out[x] = row[x] > limit ? above : below;
    } else {
      for (std::int64_t x = 0; x < width; ++x)
        out[x] = plane_value(row + x * plane.channels, plane) > limit ? above : below;
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

  /// `values` are bytes of the plane before, and results after.
  void compare_in_place(double level, std::uint8_t* values) const {
    const auto above = static_cast<std::uint8_t>(job_.inverted ? 0 : 255);
    const auto below = static_cast<std::uint8_t>(255 - above);
    if (below_all<std::uint8_t>(level)) {
      std::fill_n(values, job_.width, above);
      return;
    }
    const auto limit = limit_of<std::uint8_t>(level);
    std::transform(values, values + job_.width, values,
                   [=](std::uint8_t value) { return value > limit ? above : below; });
  }

  CpuBackend& backend_;
  LevelJob job_;
};

}  // namespace

std::unique_ptr<LevelOperation> prepare_level(Backend& backend, const LevelJob& job) {
  return std::make_unique<Level>(as_cpu(backend), job);
}

}  // namespace satin::cpu
