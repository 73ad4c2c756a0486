#include "tests/oracles/loose_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

constexpr std::byte canary{0xA5};
constexpr std::ptrdiff_t margin = 64;

}  // namespace

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::dense:
      return "dense";
    case Layout::loose_rows:
      return "loose rows";
    case Layout::upside_down:
      return "negative row stride";
    case Layout::planar:
      return "planar";
  }
  return "?";
}

LooseImage::LooseImage(const Image& image, Layout layout) : shape_(image.shape()) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(shape_.type));
  strides_ = layout == Layout::planar ? planar_strides(shape_) : interleaved_strides(shape_);
  if (layout != Layout::dense && layout != Layout::planar) {
    strides_.row += 3 * size;
    strides_.frame = strides_.row * shape_.height + 5 * size;
  }
  std::ptrdiff_t used = std::max(strides_.frame * shape_.frames, strides_.channel * shape_.channels);
  origin_ = margin;
  if (layout == Layout::upside_down) {
    origin_ += strides_.row * (shape_.height - 1);
    strides_.row = -strides_.row;
  }
  used += 2 * margin;
  bytes_.assign(static_cast<std::size_t>(used), canary);
  const ImageView source = image.view();
  for_each_element(shape_, [&](std::int64_t x, std::int64_t y, int c, std::int64_t frame) {
    std::memcpy(mutable_view().at(x, y, c, frame), source.at(x, y, c, frame), size_of(shape_.type));
  });
}

bool LooseImage::surroundings_untouched() const {
  std::vector<std::byte> rest = bytes_;
  for_each_element(shape_, [&](std::int64_t x, std::int64_t y, int c, std::int64_t frame) {
    std::fill_n(rest.begin() + (view().at(x, y, c, frame) - bytes_.data()), size_of(shape_.type), canary);
  });
  return std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == canary; });
}

void expect_same_of_every_layout(Plan& plan, const Image& picture) {
  Image expected = poisoned(picture.shape());
  plan.run(picture.view(), expected.view());
  for (const Layout layout : every_layout) {
    const LooseImage loose(picture, layout);
    LooseImage output(poisoned(picture.shape()), layout);
    plan.run(loose.view(), output.mutable_view());
    EXPECT_EQ(difference(output.view(), expected), "") << name_of(layout);
    EXPECT_TRUE(output.surroundings_untouched()) << name_of(layout);
  }
}

}  // namespace satin::test
