#pragma once
// A box along one axis by its definition: the picture is extended position by position, and pixels are
// weighted by the covered length.

#include <cstdint>
#include <vector>

#include "satin/border.h"

namespace satin::test {

/// A line of pixels that is extended on both sides by walking along it by the rule of the border.
class ExtendedLine {
 public:
  static constexpr int nothing = -1;

  ExtendedLine(int size, int margin, Border border);
  /// Returns the pixel of the picture at `position`, or `nothing`.
  [[nodiscard]] int at(int position) const { return sources_[static_cast<std::size_t>(position + margin_)]; }
  [[nodiscard]] int size() const noexcept { return size_; }

 private:
  int size_;
  int margin_;
  std::vector<int> sources_;
};

/// The weights of the pixels of a line.
struct LineWeights {
  struct Term {
    int index;
    std::int64_t weight;
  };
  std::vector<Term> terms;    ///< pixels of the picture, each once
  std::int64_t existing = 0;  ///< sum of their weights
  std::int64_t whole = 0;     ///< sum of weights including positions without a pixel
};

/// Returns the weights, in 1/256 pixel, of the box with half-width radius + 1/2 around `centre`. The radius
/// is in 1/256 pixel.
LineWeights covered_length(const ExtendedLine& line, int centre, int radius256);

/// Returns weight 1 for each position from centre - reach to centre + reach.
LineWeights whole_window(const ExtendedLine& line, int centre, int reach);

}  // namespace satin::test
