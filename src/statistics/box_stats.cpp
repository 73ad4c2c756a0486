#include "statistics/box_stats.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/maths/window.h"
#include "satin/error.h"
#include "statistics/maths/quick_number.h"

namespace satin {
namespace {

class EachColour final : public BoxStatsOperation {
 public:
  explicit EachColour(std::vector<std::unique_ptr<BoxStatsOperation>> colours)
      : colours_(std::move(colours)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const auto& colour : colours_) bytes += colour->workspace_bytes();
    return bytes;
  }

  void clear_extremes(PictureExtremes* extremes, Stream stream) override {
    colours_.front()->clear_extremes(extremes, stream);
  }
  void find_extremes(const ImageView& picture, const Rectangle& inner, const Measured* measured,
                     PictureExtremes* extremes, Stream stream) override {
    for (const auto& colour : colours_) colour->find_extremes(picture, inner, measured, extremes, stream);
  }
  void run(const BoxStatsImages& images, Stream stream) override {
    for (const auto& colour : colours_) colour->run(images, stream);
  }

 private:
  std::vector<std::unique_ptr<BoxStatsOperation>> colours_;
};

}  // namespace

std::unique_ptr<BoxStatsOperation> prepare_each_colour(Backend& backend, const BoxStatsJob& job) {
  std::vector<std::unique_ptr<BoxStatsOperation>> colours;
  BoxStatsJob colour = job;
  colour.colours = 1;
  for (int c = 0; c < job.colours; ++c, ++colour.plane.channel, ++colour.output_channel)
    colours.push_back(backend.prepare(colour));
  return std::make_unique<EachColour>(std::move(colours));
}

int float_bits_for_squares(Type type, std::uint64_t area) {
  constexpr int most_bits = 30;
  constexpr int fewest_bits = 8;
  const int bits = std::min(most_bits, (62 - static_cast<int>(std::bit_width(area))) / 2);  // area < 2^width
  const int area_bits = static_cast<int>(std::bit_width(area - 1));  // area <= 2^area_bits
  const bool fits =
      type == Type::f32 ? bits >= fewest_bits : area_bits + 2 * (type == Type::u8 ? 8 : 16) <= 64;
  if (!fits)
    throw Error(ErrorKind::usage, "A window of " + std::to_string(area) +
                                      " pixels is too large for exact sums of squares: use a smaller one.");
  return type == Type::f32 ? bits : 0;
}

QuickNumber quick_number(const BoxStatsJob& job, double largest) {
  return job.result == LocalResult::deviation ? quick_deviation(largest)
                                              : quick_normalised(job.normalise, largest);
}

std::uint64_t largest_window_of(const BoxStatsJob& job) {
  const auto extent = [&](std::int64_t reach, std::int64_t size) {
    return static_cast<std::uint64_t>(counted(window_around(size / 2, reach), size, job.border));
  };
  return extent(job.reach_x, job.width) * extent(job.reach_y, job.height);
}

}  // namespace satin
