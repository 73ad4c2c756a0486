// One threshold for all pixels, and the counts that it is chosen from.

#include <algorithm>
#include <functional>
#include <mutex>
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
    parallel_rows(backend_, job_.height, 64, [&](std::int64_t first, std::int64_t last) {
      std::vector<std::uint64_t> own(codes);
      std::vector<std::uint32_t> row(static_cast<std::size_t>(job_.width));
      for (std::int64_t y = first; y < last; ++y) {
        read_quantised(job_.plane, exponent, picture, y, row.data());
        for (const std::uint32_t value : row) ++own[code_of(value)];
      }
      const std::lock_guard lock(mutex);
      std::transform(own.begin(), own.end(), counts, counts, std::plus<>());
    });
    return quantised(job_.plane, exponent);
  }

  void run(const ImageView& picture, double level, const MutableImageView& output, Stream) override {
    parallel_rows(backend_, job_.height, 16, [&](std::int64_t first, std::int64_t last) {
      std::vector<double> row(static_cast<std::size_t>(job_.width));
      for (std::int64_t y = first; y < last; ++y) {
        read_values(job_.plane, picture, y, row.data());
        auto* out = output.row<std::uint8_t>(y);
        for (std::size_t x = 0; x < row.size(); ++x)
          out[x] = (row[x] > level) == job_.inverted ? std::uint8_t{0} : std::uint8_t{255};
      }
    });
  }

 private:
  CpuBackend& backend_;
  LevelJob job_;
};

}  // namespace

std::unique_ptr<LevelOperation> prepare_level(Backend& backend, const LevelJob& job) {
  return std::make_unique<Level>(as_cpu(backend), job);
}

}  // namespace satin::cpu
