#pragma once
// Host pictures in other layouts than the dense one, with bytes around the pixels that nobody may write.

#include <array>
#include <vector>

#include "satin/image.h"
#include "satin/plan.h"

namespace satin::test {

enum class Layout { dense, loose_rows, upside_down, planar };
inline constexpr std::array every_layout = {Layout::dense, Layout::loose_rows, Layout::upside_down,
                                            Layout::planar};

const char* name_of(Layout layout);

class LooseImage {
 public:
  /// A copy of `image`.
  LooseImage(const Image& image, Layout layout);

  [[nodiscard]] ImageView view() const { return {bytes_.data() + origin_, shape_, strides_, Memory::host}; }
  [[nodiscard]] MutableImageView mutable_view() {
    return {bytes_.data() + origin_, shape_, strides_, Memory::host};
  }
  /// True if the bytes around the pixels are as they were.
  [[nodiscard]] bool surroundings_untouched() const;

 private:
  Shape shape_;
  Strides strides_;
  std::ptrdiff_t origin_ = 0;
  std::vector<std::byte> bytes_;
};

/// Expects the bytes of the dense picture from pictures of every layout, in pictures of the same layout.
void expect_same_of_every_layout(Plan& plan, const Image& picture);

}  // namespace satin::test
