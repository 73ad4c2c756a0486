#include "tests/oracles/oracle_line.h"

#include <algorithm>
#include <cstdlib>

namespace satin::test {
namespace {

/// Walks outward from an end of the picture. `step` is +1 beyond the last pixel and -1 before the first.
class Walker {
 public:
  Walker(int size, int step, Border border)
      : size_(size), border_(border), direction_(step), position_(step > 0 ? size - 1 : 0) {}

  int next() {
    switch (border_) {
      case Border::shrink:
      case Border::constant:
        return ExtendedLine::nothing;
      case Border::clamp:
        return position_;
      case Border::wrap:
        position_ += direction_;
        if (position_ == size_) position_ = 0;
        if (position_ == -1) position_ = size_ - 1;
        return position_;
      case Border::reflect:  // the wall stands behind the edge pixel, which is therefore seen twice
        if (leaves()) {
          direction_ = -direction_;
        } else {
          position_ += direction_;
        }
        return position_;
      case Border::mirror:  // the wall stands on the edge pixel
        if (size_ == 1) return 0;
        if (leaves()) direction_ = -direction_;
        position_ += direction_;
        return position_;
    }
    return ExtendedLine::nothing;
  }

 private:
  [[nodiscard]] bool leaves() const { return position_ + direction_ < 0 || position_ + direction_ >= size_; }

  int size_;
  Border border_;
  int direction_;
  int position_;
};

template <class Weight>
LineWeights weights(const ExtendedLine& line, int low, int high, const Weight& weight_at) {
  std::vector<std::int64_t> weight_of(static_cast<std::size_t>(line.size()), 0);
  LineWeights result;
  for (int position = low; position <= high; ++position) {
    const std::int64_t weight = weight_at(position);
    const int source = line.at(position);
    result.whole += weight;
    if (source == ExtendedLine::nothing) continue;
    result.existing += weight;
    weight_of[static_cast<std::size_t>(source)] += weight;
  }
  for (int i = 0; i < line.size(); ++i)
    if (const std::int64_t weight = weight_of[static_cast<std::size_t>(i)]; weight != 0)
      result.terms.push_back({i, weight});
  return result;
}

}  // namespace

ExtendedLine::ExtendedLine(int size, int margin, Border border)
    : size_(size), margin_(margin), sources_(static_cast<std::size_t>(size + 2 * margin)) {
  const auto place = [this](int position) -> int& {
    return sources_[static_cast<std::size_t>(position + margin_)];
  };
  for (int i = 0; i < size; ++i) place(i) = i;
  Walker before(size, -1, border);
  Walker behind(size, +1, border);
  for (int i = 1; i <= margin; ++i) {
    place(-i) = before.next();
    place(size - 1 + i) = behind.next();
  }
}

LineWeights covered_length(const ExtendedLine& line, int centre, int radius256) {
  // The box ends radius + 1/2 from the centre, the pixel at distance d spans d - 1/2 .. d + 1/2.
  const int reach = (radius256 + 255) / 256;
  return weights(line, centre - reach, centre + reach, [&](int position) {
    return static_cast<std::int64_t>(std::clamp(radius256 + 256 - 256 * std::abs(position - centre), 0, 256));
  });
}

LineWeights whole_window(const ExtendedLine& line, int centre, int reach) {
  return weights(line, centre - reach, centre + reach, [](int) { return std::int64_t{1}; });
}

}  // namespace satin::test
