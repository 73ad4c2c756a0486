#pragma once
// One axis of a box, from the definitions: the picture extended position by position, pixels weighted by the
// length that the box covers of them.

#include <cstdint>
#include <vector>

#include "satin/border.h"

namespace satin::test {

/// A line of pixels extended on both sides by walking along it as the border says.
class ExtendedLine {
 public:
  static constexpr int nothing = -1;

  ExtendedLine(int size, int margin, Border border);
  /// The pixel of the picture at `position`, or `nothing`.
  [[nodiscard]] int at(int position) const { return sources_[static_cast<std::size_t>(position + margin_)]; }
  [[nodiscard]] int size() const noexcept { return size_; }

 private:
  int size_;
  int margin_;
  std::vector<int> sources_;
};

/// How much of each pixel of a line counts.
struct LineWeights {
  struct Term {
    int index;
    std::int64_t weight;
  };
  std::vector<Term> terms;    ///< pixels of the picture, each once
  std::int64_t existing = 0;  ///< their weights together
  std::int64_t whole = 0;     ///< with that of the positions where there is nothing
};

/// Weights in 1/256 pixel of the box with half-width radius + 1/2 around `centre`; the radius is in 1/256
/// pixel.
LineWeights covered_length(const ExtendedLine& line, int centre, int radius256);

/// Weight 1 for each position from centre - reach to centre + reach.
LineWeights whole_window(const ExtendedLine& line, int centre, int reach);

}  // namespace satin::test
