#pragma once
// The smallest of parabolas along a row (Meijster, Roerdink and Hesselink, A general algorithm for computing
// distance transforms in linear time, 2000, second phase).

#include <algorithm>
#include <cstdint>

#include "core/maths/window.h"
#include "core/workspace.h"
#include "masks/distance.h"

namespace satin::cpu {

/// Parabolas (x - site)^2 + height over the columns [first, end) of a row; sites come in ascending order.
class LowerEnvelope {
 public:
  /// Has room for rows of `width` pixels, with a site on either side.
  explicit LowerEnvelope(std::int64_t width) : parts_(static_cast<std::size_t>(width) + 2) {}

  [[nodiscard]] std::size_t bytes() const noexcept { return parts_.size() * sizeof(Part); }

  void start(std::int64_t first, std::int64_t end) {
    first_ = first;
    end_ = end;
    count_ = 0;
  }

  void add(std::int64_t site, std::int64_t height) {
    while (count_ != 0 && top().at(top().start) > Part{0, site, height}.at(top().start)) --count_;
    const std::int64_t start = count_ == 0 ? first_ : separation(top(), {0, site, height}) + 1;
    if (start < end_) parts_[count_++] = {start, site, height};
  }

  /// out[x] = the smallest parabola at x, but at most `most`.
  void write(std::uint32_t most, std::uint32_t* out) const {
    if (count_ == 0) std::fill(out + first_, out + end_, most);
    for (std::size_t i = 0; i < count_; ++i) {
      const Part& part = parts_[i];
      const std::int64_t end = i + 1 < count_ ? parts_[i + 1].start : end_;
      write_part(part, end, most, out);
    }
  }

 private:
  struct Part {
    std::int64_t start;  ///< the first column where it is the smallest so far
    std::int64_t site;
    std::int64_t height;

    [[nodiscard]] std::int64_t at(std::int64_t x) const { return (x - site) * (x - site) + height; }
  };

  [[nodiscard]] const Part& top() const { return parts_[count_ - 1]; }

  /// The last column where the left parabola is not above the right one: Sep(i, u).
  static std::int64_t separation(const Part& left, const Part& right) {
    const std::int64_t apart = right.site - left.site;
    return left.site + detail::floor_divide(apart * apart + right.height - left.height, 2 * apart);
  }

  /// Columns too far from the site for 32 bits are beyond the reach anyway.
  static void write_part(const Part& part, std::int64_t end, std::uint32_t most, std::uint32_t* out) {
    const auto height = static_cast<std::int32_t>(part.height);
    for (std::int64_t x = part.start; x < end; ++x) {
      const std::int64_t apart = x < part.site ? part.site - x : x - part.site;
      const auto near = static_cast<std::int32_t>(std::min<std::int64_t>(apart, largest_distance_reach + 1));
      out[x] = std::min(static_cast<std::uint32_t>(near * near + height), most);
    }
  }

  WorkspaceVector<Part> parts_;
  std::size_t count_ = 0;
  std::int64_t first_ = 0;
  std::int64_t end_ = 0;
};

}  // namespace satin::cpu
