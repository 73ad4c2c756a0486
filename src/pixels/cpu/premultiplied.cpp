#include "pixels/premultiplied.h"

#include <algorithm>
#include <array>

#include "pixels/cpu/pixelwise.h"
#include "pixels/cpu/premultiplied_simd.h"

namespace satin::cpu {
namespace {

constexpr std::int64_t at_once = 1024;  ///< pixels of a row
using Scratch = std::array<std::uint16_t, at_once * 4>;

/// Calls part(first, count) for the parts of a row.
template <class Part>
void for_parts(std::int64_t width, const Part& part) {
  for (std::int64_t x = 0; x < width; x += at_once)
    part(x, static_cast<std::size_t>(std::min(at_once, width - x)));
}

struct PremultipliedRows : EachRow {
  using EachRow::EachRow;

  template <int Channels, class Value>
  void operator()(std::int64_t width, std::int64_t height,
                  const PremultiplyPixels<Channels, Value>& step) const {
    rows(height, [&](int y) {
      Scratch scratch;
      for_parts(width, [&](std::int64_t x, std::size_t count) {
        premultiply_row(step.picture.row(y) + x * Channels, count, Channels, step.rule, scratch.data(),
                        step.values.row(y) + x * Channels);
      });
    });
  }
  template <int Channels, class Value>
  void operator()(std::int64_t width, std::int64_t height,
                  const UnpremultiplyPixels<Channels, Value>& step) const {
    if (step.rule.mask_maximum != 0) return each(width, height, step);
    rows(height, [&](int y) {
      Scratch scratch;
      for_parts(width, [&](std::int64_t x, std::size_t count) {
        const std::int64_t at = x * Channels;
        store_premultiplied_row(step.values.row(y) + at, step.original.row(y) + at, count, Channels,
                                step.rule, scratch.data(), step.output.row(y) + at);
      });
    });
  }
};

}  // namespace

void add_premultiplied(Operations& operations) {
  add_pixelwise<PremultipliedRows, PremultiplyJob, UnpremultiplyJob>(operations);
}

}  // namespace satin::cpu
