#include <algorithm>
#include <vector>

#include "core/cpu/backend.h"

namespace satin::cpu {
namespace {

/// Rosenfeld and Pfaltz 1966: provisional labels, whose equivalences are trees of smaller and smaller labels.
class Label final : public LabelOperation {
 public:
  explicit Label(const LabelJob& job) : job_(job) { check_label_size(job.width, job.height); }
  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return 0; }

  std::uint32_t run(const ImageView& mask, const MutableImageView& labels, Stream) override {
    parents_.assign(1, 0);
    for (std::int64_t y = 0; y < job_.height; ++y)
      for (std::int64_t x = 0; x < job_.width; ++x)
        labels.value<std::uint32_t>(x, y) =
            (mask.value<std::uint8_t>(x, y) == 0) == job_.zeros ? provisional(labels, x, y) : 0;
    std::uint32_t count = 0;
    for (std::size_t i = 1; i < parents_.size(); ++i)
      parents_[i] = parents_[i] == i ? ++count : parents_[parents_[i]];
    shapes_.assign(count, {0, 0, 0xFFFFFFFFU, 0, 0, 0, 0, 0});
    for (std::int64_t y = 0; y < job_.height; ++y)
      for (std::int64_t x = 0; x < job_.width; ++x) {
        auto& label = labels.value<std::uint32_t>(x, y);
        label = parents_[label];
        if (label != 0) include(shapes_[label - 1], x, y);
      }
    return count;
  }

  void describe(RegionShape* shapes, Stream) override { std::ranges::copy(shapes_, shapes); }

 private:
  std::uint32_t root_of(std::uint32_t label) const {
    while (parents_[label] != label) label = parents_[label];
    return label;
  }

  std::uint32_t joined(std::uint32_t a, std::uint32_t b) {
    if (a == 0 || b == 0) return a + b;
    const auto [low, high] = std::minmax({root_of(a), root_of(b)});
    parents_[high] = low;
    return low;
  }

  std::uint32_t provisional(const MutableImageView& labels, std::int64_t x, std::int64_t y) {
    std::uint32_t label = x > 0 ? labels.value<std::uint32_t>(x - 1, y) : 0;
    if (y > 0) {
      const std::int64_t reach = job_.connectivity == 8 ? 1 : 0;
      for (std::int64_t i = std::max<std::int64_t>(0, x - reach); i <= std::min(job_.width - 1, x + reach);
           ++i)
        label = joined(label, labels.value<std::uint32_t>(i, y - 1));
    }
    if (label != 0) return label;
    parents_.push_back(static_cast<std::uint32_t>(parents_.size()));
    return parents_.back();
  }

  void include(RegionShape& shape, std::int64_t x, std::int64_t y) const {
    const auto column = static_cast<std::uint32_t>(x);
    const auto row = static_cast<std::uint32_t>(y);
    if (shape.area == 0) shape.first = static_cast<std::uint32_t>(y * job_.width + x);
    if (shape.area == 0) shape.top = row;
    ++shape.area;
    shape.left = std::min(shape.left, column);
    shape.right = std::max(shape.right, column);
    shape.bottom = row;
    shape.sum_x += column;
    shape.sum_y += row;
  }

  LabelJob job_;
  std::vector<std::uint32_t> parents_;
  std::vector<RegionShape> shapes_;
};

}  // namespace

std::unique_ptr<LabelOperation> prepare_label(Backend&, const LabelJob& job) {
  return std::make_unique<Label>(job);
}

}  // namespace satin::cpu
