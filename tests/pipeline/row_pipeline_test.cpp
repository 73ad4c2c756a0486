// Pipelines by chunks of rows give the bytes of the whole picture.

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "satin/error.h"
#include "satin/pipeline.h"
#include "satin/rows.h"

namespace satin::test {
namespace {

/// Rows of a picture in memory.
class MemoryRows final : public RowSource {
 public:
  explicit MemoryRows(const Image& picture) : picture_(picture) {}
  [[nodiscard]] const Shape& shape() const noexcept override { return picture_.shape(); }
  void rewind() override { next_ = 0; }
  void read(const MutableImageView& rows) override {
    const auto row = static_cast<std::size_t>(interleaved_strides(picture_.shape()).row);
    for (std::int64_t y = 0; y < rows.shape.height; ++y, ++next_) {
      ASSERT_LT(next_, picture_.shape().height) << "a row was read twice, or beyond the end";
      std::memcpy(rows.at(0, y), picture_.view().at(0, next_), row);
    }
  }

 private:
  const Image& picture_;
  std::int64_t next_ = 0;
};

/// Returns noise whose last rows have the largest values, so that measurements must include them.
Image noise(const Shape& shape) {
  Image image(shape);
  const std::size_t count = byte_size(shape) / size_of(shape.type);
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    const std::uint32_t value = (state >> 16) * static_cast<std::uint32_t>(i / (count / 4 + 1) + 1) / 4;
    if (shape.type == Type::u8)
      reinterpret_cast<std::uint8_t*>(image.data())[i] = static_cast<std::uint8_t>(value >> 8);
    if (shape.type == Type::u16)
      reinterpret_cast<std::uint16_t*>(image.data())[i] = static_cast<std::uint16_t>(value);
    if (shape.type == Type::f32) reinterpret_cast<float*>(image.data())[i] = static_cast<float>(value) / 7000;
  }
  return image;
}

/// Reads all rows, `count` at a time.
Image all_rows(RowPipeline& rows, std::int64_t count) {
  Image result(rows.shape());
  for (std::int64_t y = 0; y < rows.shape().height; y += count) {
    MutableImageView part = result.view();
    part.data = part.at(0, y);
    part.shape.height = std::min(count, rows.shape().height - y);
    rows.read(part);
  }
  return result;
}

bool same(const Image& a, const Image& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), byte_size(a.shape())) == 0;
}

const char* const pipelines[] = {
    "blur radius=7.5",
    "blur radius=40 space=encoded border=mirror",
    "blur sigma=6",
    "median radius=3",
    "unsharp sigma=2",
    "threshold method=otsu",
    "threshold method=wolf window=31",
    "threshold method=sauvola window=15",
    "local-mean window=21",
    "local-deviation window=9",
    "erode radius=4",
    "normalize window=25",
    "blur radius=300x2",
    "integral",
    "integral modulo=32",
    "blur radius=3 | unsharp sigma=1.5 | threshold method=otsu",
    "crop box=10%,30%,50%,40%",
    "blur radius=3 | crop aspect=1:2 gravity=south | median radius=2",
    "resize size=30%",
    "resize size=x200 kernel=area space=encoded | blur radius=2",
    "crop box=2,100,50%,50% | resize size=150% enlarge | threshold method=otsu",
};

/// Plans the pipeline with the lowest memory limit that suffices, so that chunks are low. Returns null if the
/// filters refuse.
std::unique_ptr<RowPipeline> in_low_bands(const Device& device, const Pipeline& pipeline, RowSource& source) {
  for (std::size_t limit = 20'000; limit < 1'000'000'000; limit += limit / 4) {
    limit_memory(device, limit);
    try {
      return std::make_unique<RowPipeline>(device, pipeline, source);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::usage) return nullptr;
    }
  }
  return nullptr;
}

TEST(RowPipeline, GivesTheBytesOfTheWholePicture) {
  const Device device = Device::open("cpu");
  const Shape shapes[] = {{61, 700, 1, Type::u8},
                          {40, 900, 3, Type::u16},
                          {33, 641, 4, Type::u8, Alpha::straight},
                          {47, 523, 3, Type::f32},
                          {5, 1, 1, Type::u8}};
  std::int64_t compared = 0;
  for (const Shape& shape : shapes)
    for (const char* text : pipelines) {
      const Pipeline pipeline = parse_pipeline(text);
      const Image picture = noise(shape);
      MemoryRows source(picture);
      const auto rows = in_low_bands(device, pipeline, source);
      if (rows == nullptr) continue;
      limit_memory(device, 0);
      const Image result = all_rows(*rows, 37);
      EXPECT_TRUE(same(run(device, pipeline, picture), result)) << text << " of " << describe(shape);
      ++compared;
    }
  EXPECT_GT(compared, 85);
}

TEST(RowPipeline, BringsMasksToThePictureAtTheirStep) {
  const Device device = Device::open("cpu");
  const Image picture = noise({61, 700, 3, Type::u8});
  const Image mask = noise({61, 700, 1, Type::u8});
  for (const char* text :
       {"crop box=7,333,20,300 | blur radius=3 mask=m",
        "blur radius=2 mask=m | crop aspect=1:3 | resize size=100 | blur radius=3 mask=m"}) {
    const Pipeline pipeline = parse_pipeline(text);
    const std::vector<ImageView> inputs = inputs_of(pipeline, picture, std::vector<NamedView>{{"m", mask}});
    MemoryRows source(picture);
    std::deque<MemoryRows> masks;
    std::vector<RowSource*> sides;
    for (std::size_t i = 1; i < inputs.size(); ++i)
      sides.push_back(inputs[i].empty() ? nullptr : &masks.emplace_back(mask));
    RowPipeline rows(device, pipeline, source, sides);
    const Image expected = run(device, pipeline, picture, std::vector<NamedView>{{"m", mask}});
    EXPECT_TRUE(same(all_rows(rows, 23), expected)) << text;
    rows.rewind();
    EXPECT_TRUE(same(all_rows(rows, 100), expected)) << text;
  }
}

/// The memory depends on the width and the factor, and not on the height.
TEST(RowPipeline, HoldsFewRowsWhereTheSizeChanges) {
  const Device device = Device::open("cpu");
  for (const char* text : {"crop box=0%,10%,100%,80%", "resize size=25%"}) {
    std::size_t bytes[2] = {};
    for (const int i : {0, 1}) {
      const Image picture = noise({2000, i == 0 ? 3000 : 12000, 1, Type::u8});
      MemoryRows source(picture);
      bytes[i] = RowPipeline(device, parse_pipeline(text), source).workspace_bytes();
    }
    EXPECT_LT(bytes[1], bytes[0] + bytes[0] / 4) << text;
    EXPECT_LT(bytes[1], 2000U * 2400U) << text;
  }
}

TEST(RowPipeline, RefusesFiltersThatNeedTheWholePicture) {
  const Device device = Device::open("cpu");
  const Image picture = noise({64, 64, 3, Type::u8});
  for (const char* text : {"smooth sigma=4", "edge-smooth", "blur radius=3 border=wrap", "stats", "gloss"}) {
    MemoryRows source(picture);
    try {
      const RowPipeline rows(device, parse_pipeline(text), source);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    }
  }
}

}  // namespace
}  // namespace satin::test
