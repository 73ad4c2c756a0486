#include <algorithm>

#include "core/cpu/backend.h"
#include "core/maths/region_values.h"

namespace satin::cpu {
namespace {

template <class T>
class RegionValuesOf final : public RegionValuesOperation {
 public:
  explicit RegionValuesOf(const RegionValuesJob& job) : job_(job) {}
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  void run(const ImageView& labels, const ImageView& picture, const Measured* measured, std::uint32_t count,
           RegionSums* sums, Stream) override {
    const int exponent = measured == nullptr ? 0 : fixed_exponent(measured->largest[0], job_.fixed_bits);
    std::fill_n(sums, static_cast<std::size_t>(count) * static_cast<std::size_t>(job_.channels),
                RegionSums{});
    for (std::int64_t y = 0; y < job_.height; ++y) {
      const auto* label = labels.row<std::uint32_t>(y);
      const T* pixel = picture.row<T>(y);
      for (std::int64_t x = 0; x < job_.width; ++x, pixel += job_.channels) {
        if (label[x] == 0) continue;
        RegionSums* of = sums + (label[x] - std::size_t{1}) * static_cast<std::size_t>(job_.channels);
        for (int c = 0; c < job_.channels; ++c) include(of[c], pixel[c], exponent, job_.fixed_bits);
      }
    }
  }

 private:
  RegionValuesJob job_;
};

}  // namespace

std::unique_ptr<RegionValuesOperation> prepare_region_values(Backend&, const RegionValuesJob& job) {
  switch (job.type) {
    case Type::u8:
      return std::make_unique<RegionValuesOf<std::uint8_t>>(job);
    case Type::u16:
      return std::make_unique<RegionValuesOf<std::uint16_t>>(job);
    default:
      return std::make_unique<RegionValuesOf<float>>(job);
  }
}

}  // namespace satin::cpu
