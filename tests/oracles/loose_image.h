#pragma once
// Host pictures in layouts other than the dense one, surrounded by bytes that must not be written.

#include <array>
#include <vector>

#include "satin/image.h"
#include "satin/plan.h"

namespace satin::test {

/// Calls body(x, y, channel, frame) for every element of pictures of this shape.
template <class Body>
void for_each_element(const Shape& shape, const Body& body) {
  for (std::int64_t frame = 0; frame < shape.frames; ++frame)
    for (std::int64_t y = 0; y < shape.height; ++y)
      for (std::int64_t x = 0; x < shape.width; ++x)
        for (int c = 0; c < shape.channels; ++c) body(x, y, c, frame);
}

enum class Layout { dense, loose_rows, upside_down, planar };
inline constexpr std::array every_layout = {Layout::dense, Layout::loose_rows, Layout::upside_down,
                                            Layout::planar};

const char* name_of(Layout layout);

class LooseImage {
 public:
  /// Copies `image`.
  LooseImage(const Image& image, Layout layout);

  [[nodiscard]] ImageView view() const { return {bytes_.data() + origin_, shape_, strides_, Memory::host}; }
  [[nodiscard]] MutableImageView mutable_view() {
    return {bytes_.data() + origin_, shape_, strides_, Memory::host};
  }
  /// Whether the bytes around the pixels are unchanged.
  [[nodiscard]] bool surroundings_untouched() const;

 private:
  Shape shape_;
  Strides strides_;
  std::ptrdiff_t origin_ = 0;
  std::vector<std::byte> bytes_;
};

/// Runs pictures of every layout into pictures of the same layout and expects the bytes of the dense picture.
void expect_same_of_every_layout(Plan& plan, const Image& picture);

}  // namespace satin::test
