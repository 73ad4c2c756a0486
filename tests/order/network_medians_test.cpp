// Edge cases of medians by sorting networks, above all of 3 x 3 and 5 x 5 pixels, for which vectors move down
// chunks of rows: heights around that of a chunk, rows that end within a vector, rows whole pages apart,
// which have lower chunks, and the pixels beside the borders.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "satin/filters/median.h"
#include "tests/oracles/device_under_test.h"
#include "tests/oracles/forced_target.h"
#include "tests/oracles/loose_image.h"
#include "tests/oracles/oracle_rank.h"
#include "tests/oracles/pictures.h"

namespace satin::test {
namespace {

/// Rows of the picture whose windows do not leave it.
constexpr std::array inner_heights = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 41};
/// The first is the least width for vectors.
constexpr std::array inner_widths = {64, 65, 71, 79, 80, 95, 97, 111, 127, 128, 129};
constexpr std::ptrdiff_t page = 4096;

/// A copy of a picture whose rows lie whole pages apart, upwards or downwards.
class PagedRows {
 public:
  PagedRows(const Image& image, bool upwards) : shape_(image.shape()), strides_(image.view().strides) {
    const std::ptrdiff_t dense = strides_.row;
    const std::ptrdiff_t paged = (dense + page - 1) / page * page;
    bytes_.resize(static_cast<std::size_t>(paged * shape_.height));
    if (upwards) origin_ = paged * (shape_.height - 1);
    strides_.row = upwards ? -paged : paged;
    for (std::int64_t y = 0; y < shape_.height; ++y)
      std::memcpy(bytes_.data() + origin_ + y * strides_.row, image.view().at(0, y),
                  static_cast<std::size_t>(dense));
  }
  [[nodiscard]] ImageView view() const { return {bytes_.data() + origin_, shape_, strides_, Memory::host}; }

 private:
  Shape shape_;
  Strides strides_;
  std::ptrdiff_t origin_ = 0;
  std::vector<std::byte> bytes_;
};

/// Sets alpha in cells: visible everywhere, nowhere, with a few transparent pixels, or left as it is.
template <class T>
void set_alpha(const MutableImageView& view, T visible, std::uint64_t seed) {
  Random random(seed);
  for (std::int64_t y = 0; y < view.shape.height; ++y)
    for (std::int64_t x = 0; x < view.shape.width; ++x) {
      const auto cell = (static_cast<std::uint64_t>(x / 24 + y / 6) + seed) % 4;
      if (cell == 3) continue;
      const bool shown = cell == 0 || (cell == 2 && !random.one_in(8));
      view.value<T>(x, y, view.shape.channels - 1) = shown ? visible : T{0};
    }
}

/// Noise, with alpha by set_alpha(); every second picture of floats holds values whose order shows in their
/// bits alone.
Image picture_of(const Shape& shape, std::uint64_t seed) {
  Image picture = random_picture(shape, seed);
  if (shape.alpha == Alpha::straight) {
    if (shape.type == Type::u8) set_alpha<std::uint8_t>(picture.view(), 3, seed);
    if (shape.type == Type::u16) set_alpha<std::uint16_t>(picture.view(), 300, seed);
    if (shape.type == Type::f32) set_alpha<float>(picture.view(), 0.5F, seed);
    return picture;
  }
  if (shape.type != Type::f32 || seed % 2 == 0) return picture;
  using Float = std::numeric_limits<float>;
  constexpr std::array values = {
      0.0F,  -0.0F, 0.0F, -0.0F,        Float::denorm_min(), -Float::denorm_min(), Float::lowest(),
      -1.5F, -1.0F, 1.0F, Float::max(), -Float::min()};
  Random random(seed);
  for (std::int64_t y = 0; y < shape.height; ++y)
    for (std::int64_t x = 0; x < shape.width; ++x)
      for (int c = 0; c < shape.channels; ++c) picture.view().value<float>(x, y, c) = random.pick(values);
  return picture;
}

struct EdgeCase {
  Shape shape;
  Median median{};
  bool masked = false;
  std::uint64_t seed = 0;
};

void check(const EdgeCase& edge) {
  SCOPED_TRACE(testing::Message() << name_of(edge.shape.type) << ", " << edge.shape.width << " x "
                                  << edge.shape.height << " of " << edge.shape.channels << ", radius "
                                  << edge.median.radius.x.value << ", border "
                                  << static_cast<int>(edge.median.border) << ", mask " << edge.masked
                                  << ", threshold " << edge.median.threshold);
  const Image picture = picture_of(edge.shape, edge.seed);
  const Image mask =
      edge.masked ? random_map(edge.shape.width, edge.shape.height, Type::u8, edge.seed) : Image();
  Median median = edge.median;
  median.mask = mask.view();
  OracleRank oracle{picture.view(), mask.view()};
  oracle.radius_x = oracle.radius_y = static_cast<int>(median.radius.x.value);
  oracle.border = median.border;
  oracle.border_value = median.border_value;
  oracle.threshold = median.threshold;
  const Image expected = oracle_rank(oracle);
  const LooseImage upside_down(picture, Layout::upside_down);
  const PagedRows downwards(picture, false);
  const PagedRows upwards(picture, true);
  on_every_target([&] {
    Plan prepared = plan(device_under_test(), edge.shape, median);
    for (const ImageView& source : {picture.view(), upside_down.view(), downwards.view(), upwards.view()}) {
      SCOPED_TRACE(testing::Message() << "row stride " << source.strides.row);
      LooseImage output(poisoned(edge.shape), Layout::loose_rows);
      const std::array inputs = {source, ImageView(), mask.view()};
      prepared.run(inputs, output.mutable_view());
      ASSERT_EQ(difference(output.view(), expected), "");
      ASSERT_TRUE(output.surroundings_untouched());
    }
  });
}

class NetworkMedians : public testing::TestWithParam<Type> {};

TEST_P(NetworkMedians, ChunksTailsAndPages) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "chunks of rows are the CPU's";
  std::uint64_t seed = 0x3E0;
  for (const int radius : {1, 2})
    for (const int height : inner_heights) {
      ++seed;
      if (slow_build() && seed % 5 != 0) continue;
      const int width = inner_widths[seed % inner_widths.size()];
      EdgeCase edge{
          {width + 2 * radius, height + 2 * radius, 1 + static_cast<int>(seed / 2 % 4), GetParam()}};
      edge.median.radius = radius;
      edge.masked = seed % 7 == 0;
      if (seed % 5 == 0) edge.median.threshold = 0.1;
      edge.seed = seed;
      check(edge);
      if (HasFatalFailure()) return;
    }
}

// Pixels along every border, also those that are cut as they are longer than 1024.
TEST_P(NetworkMedians, EveryBorder) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "copies of borders are the CPU's";
  std::uint64_t seed = 0x3F0;
  const auto check_border = [&](std::int64_t width, std::int64_t height, int radius, Border border) {
    ++seed;
    if (slow_build() && seed % 5 != 0) return;
    EdgeCase edge{{width, height, width * height > 10'000 ? 1 : 1 + static_cast<int>(seed % 4), GetParam()}};
    edge.median.radius = radius;
    edge.median.border = border;
    edge.median.border_value = 0.25;
    edge.masked = seed % 5 == 0;
    edge.seed = seed;
    check(edge);
  };
  for (const int radius : {1, 2}) {
    for (const Border border : every_border) {
      check_border(64 + 2 * radius, 63 + 2 * radius, radius, border);  // columns too short for vectors
      check_border(66 + 2 * radius, 64 + 2 * radius, radius, border);
      if (HasFatalFailure()) return;
    }
    for (const int length : {1024, 1025, 2049}) {
      check_border(length + 2 * radius, 2 * radius + 1, radius, Border::shrink);
      if (length == 1025) check_border(64 + 2 * radius, length + 2 * radius, radius, Border::shrink);
      if (HasFatalFailure()) return;
    }
  }
}

// Transparent pixels, whose colours do not count: single ones, areas and noise, inside and at every border.
TEST_P(NetworkMedians, Alpha) {
  std::uint64_t seed = 0x400;
  for (const int radius : {1, 2, 5, 7})  // the CPU has networks of the first two, CUDA of all
    for (const int channels : {2, 4})
      for (const Border border : every_border) {
        ++seed;
        if (slow_build() && seed % 5 != 0) continue;
        const std::int64_t width = 16 + 7 * static_cast<std::int64_t>(seed % 13);
        const std::int64_t height = radius < 5 ? 80 : 45;
        EdgeCase edge{{width, height, channels, GetParam(), Alpha::straight}};
        edge.median.radius = radius;
        edge.median.border = border;
        edge.median.border_value = seed % 2 == 0 ? 0.25 : 0;
        edge.masked = seed % 5 == 0;
        if (seed % 7 == 0) edge.median.threshold = 0.1;
        edge.seed = seed;
        check(edge);
        if (HasFatalFailure()) return;
      }
}

INSTANTIATE_TEST_SUITE_P(Types, NetworkMedians, testing::Values(Type::u8, Type::u16, Type::f32),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace satin::test
