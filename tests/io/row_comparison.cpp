#include "tests/io/row_comparison.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

namespace satin::test {
namespace {

void expect_same_metadata(const Metadata& actual, const Metadata& expected, const std::string& what) {
  EXPECT_EQ(actual.icc, expected.icc) << what;
  EXPECT_EQ(actual.exif, expected.exif) << what;
  EXPECT_EQ(actual.xmp, expected.xmp) << what;
  EXPECT_EQ(actual.iptc, expected.iptc) << what;
  EXPECT_EQ(actual.resolution, expected.resolution) << what;
}

struct Read {
  Picture picture;
  std::optional<ErrorKind> failed;
  std::string message;
};

template <class Work>
Read attempt(const Work& work) {
  Read read;
  try {
    read.picture = work();
  } catch (const Error& error) {
    read.failed = error.kind();
    read.message = error.what();
  }
  return read;
}

}  // namespace

Image rest_of(RowSource& rows, std::int64_t left, unsigned seed) {
  std::mt19937 random(seed);
  Shape shape = rows.shape();
  shape.height = left;
  Image image(shape);
  const std::ptrdiff_t row = interleaved_strides(shape).row;
  const auto any = [&](unsigned below) { return static_cast<std::ptrdiff_t>(random() % below); };
  for (std::int64_t y = 0; y < left;) {
    Shape part = shape;
    part.height = std::min<std::int64_t>(1 + any(40), left - y);
    // Padding by the size of a sample keeps floats aligned.
    const std::ptrdiff_t loose = row + static_cast<std::ptrdiff_t>(size_of(shape.type)) * any(3);
    std::vector<std::byte> memory(static_cast<std::size_t>(loose * part.height));
    MutableImageView view = mutable_view_of(memory.data(), part);
    view.strides.row = loose;
    if (any(2) != 0) {
      view.data += loose * (part.height - 1);
      view.strides.row = -loose;
    }
    rows.read(view);
    for (std::int64_t i = 0; i < part.height; ++i)
      std::memcpy(image.data() + (y + i) * row, view.at(0, i), static_cast<std::size_t>(row));
    y += part.height;
  }
  return image;
}

bool expect_same_by_rows(std::span<const std::byte> file, const std::string& name, const ReadOptions& options,
                         unsigned seed) {
  SCOPED_TRACE(name);
  const TemporaryFolder folder;
  const fs::path path = folder / name;
  store(path, {reinterpret_cast<const char*>(file.data()), file.size()});
  const Read whole = attempt([&] { return read_picture(path, options); });
  const Read by_rows = attempt([&] {
    const std::unique_ptr<FileRows> rows = open_rows(path, options);
    const std::int64_t height = rows->shape().height;
    static_cast<void>(rest_of(*rows, (height + 1) / 2, seed));
    rows->rewind();
    Picture picture(rest_of(*rows, height, seed + 1));
    picture.metadata = rows->metadata();
    picture.warnings = rows->warnings();
    return picture;
  });
  if (by_rows.failed) {
    EXPECT_TRUE(whole.failed == by_rows.failed) << by_rows.message << "\n" << whole.message;
    EXPECT_NE(by_rows.message.find(name), std::string::npos) << by_rows.message;
    return false;
  }
  EXPECT_FALSE(whole.failed) << whole.message;
  if (whole.failed) return false;
  expect_same(by_rows.picture.image, whole.picture.image, name);
  expect_same_metadata(by_rows.picture.metadata, whole.picture.metadata, name);
  std::vector<std::string> expected = whole.picture.warnings, warnings = by_rows.picture.warnings;
  std::ranges::sort(expected);
  std::ranges::sort(warnings);
  EXPECT_EQ(warnings, expected);
  return true;
}

}  // namespace satin::test
