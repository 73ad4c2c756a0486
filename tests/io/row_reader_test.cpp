// Files that are read row by row.

#include <sys/stat.h>

#include <random>

#include "tests/io/row_comparison.h"

namespace satin::test {
namespace {

FileBytes encoded(const Shape& shape, const std::string& extension) {
  return encode_image(random_image(shape), extension);
}

/// Formats that this build reads by rows and writes, with shapes that they hold.
struct Sample {
  std::string extension;
  Type type;
  int channels;
};

std::vector<Sample> samples() {
  std::vector<Sample> result{{".pfm", Type::f32, 1}, {".pfm", Type::f32, 3}, {".pgm", Type::u8, 1},
                             {".pgm", Type::u16, 1}, {".ppm", Type::u8, 3},  {".ppm", Type::u16, 3},
                             {".pam", Type::u8, 2},  {".pam", Type::u16, 4}};
  for (const std::string extension : {".npy", ".tif"})
    for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64})
      for (const int channels : {1, 2, 3, 4})
        if (can_write(extension)) result.push_back({extension, type, channels});
  return result;
}

Shape shape_for(const Sample& sample, std::int64_t width, std::int64_t height) {
  const bool alpha = sample.channels % 2 == 0 && sample.extension != ".npy";
  return shape_of(width, height, sample.channels, sample.type, alpha ? Alpha::straight : Alpha::none);
}

TEST(RowReader, GivesTheSamePixelsAsReadPicture) {
  std::mt19937 random(3);
  for (const Sample& sample : samples())
    for (const auto& [width, height] : {std::pair{1, 1}, {1 + static_cast<int>(random() % 90), 77}}) {
      const FileBytes file = encoded(shape_for(sample, width, height), sample.extension);
      EXPECT_TRUE(expect_same_by_rows(file, "x" + sample.extension, {}, static_cast<unsigned>(random())));
    }
}

TEST(RowReader, ReadsBitsAndOtherMaxima) {
  std::mt19937 random(5);
  const auto file = [&](const std::string& header, std::size_t bytes) {
    FileBytes content = bytes_of(header);
    for (std::size_t i = 0; i < bytes; ++i) content.push_back(static_cast<std::byte>(random() % 100));
    return content;
  };
  EXPECT_TRUE(expect_same_by_rows(file("P4\n19 50\n", 150), "x.pbm"));
  EXPECT_TRUE(expect_same_by_rows(file("P4 # of bits\n16 3\n", 6), "x.pbm"));
  EXPECT_TRUE(expect_same_by_rows(file("P5\n9 40\n100\n", 360), "x.pgm"));
  EXPECT_TRUE(expect_same_by_rows(file("P6\n9 40\n30000\n", 2160), "x.ppm"));
  EXPECT_FALSE(expect_same_by_rows(file("P5\n9 40\n7\n", 360), "x.pgm"));
}

TEST(RowReader, ReadsEitherByteOrder) {
  FileBytes npy = bytes_of(std::string("\x93NUMPY\1\0\x46\0", 10) +
                           "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3, 1), }       \n");
  FileBytes pfm = bytes_of("Pf\n3 2\n1.0\n");
  for (int i = 0; i < 12; ++i) npy.push_back(static_cast<std::byte>(i));
  for (int i = 0; i < 24; ++i) pfm.push_back(static_cast<std::byte>(i));
  EXPECT_TRUE(expect_same_by_rows(npy, "x.npy"));
  EXPECT_TRUE(expect_same_by_rows(pfm, "x.pfm"));
}

TEST(RowReader, ReadsInksAsRgb) {
  FileBytes pam = bytes_of("P7\nWIDTH 3\nHEIGHT 5\nDEPTH 4\nMAXVAL 255\nTUPLTYPE CMYK\nENDHDR\n");
  for (int i = 0; i < 60; ++i) pam.push_back(static_cast<std::byte>(i * 4));
  EXPECT_TRUE(expect_same_by_rows(pam, "x.pam"));
}

TEST(RowReader, ReadsMoreThanItHolds) {
  EXPECT_TRUE(expect_same_by_rows(encoded(shape_of(3000, 200, 3, Type::u16), ".ppm"), "x.ppm"));
  EXPECT_TRUE(expect_same_by_rows(encoded(shape_of(3000, 200, 1, Type::f32), ".pfm"), "x.pfm"));
  EXPECT_TRUE(expect_same_by_rows(encoded(shape_of(300'000, 3, 1, Type::f32), ".npy"), "x.npy"));
}

TEST(RowReader, TakesTheChosenPage) {
  const FileBytes first = encoded(shape_of(5, 4, 1, Type::u8), ".pgm");
  const FileBytes second = encoded(shape_of(8, 9, 3, Type::u16), ".ppm");
  FileBytes both = first;
  both.insert(both.end(), second.begin(), second.end());
  ReadOptions options;
  for (const std::int64_t page : {1, 2}) {
    options.page = page;
    EXPECT_TRUE(expect_same_by_rows(both, "x.pnm", options));
  }
  options.page = 3;
  EXPECT_FALSE(expect_same_by_rows(both, "x.pnm", options));
  EXPECT_FALSE(expect_same_by_rows(both, "x.pnm"));
}

/// Truncated files and files with one changed byte are refused or read like whole files.
TEST(RowReader, AcceptsAndRefusesTheSameFilesAsReadPicture) {
  std::mt19937 random(7);
  int good = 0, bad = 0;
  for (const Sample& sample : samples()) {
    if (sample.type == Type::u32 || sample.type == Type::u64 || sample.type == Type::f64) continue;
    const FileBytes file = encoded(shape_for(sample, 21, 19), sample.extension);
    for (int i = 0; i < 12; ++i) {
      FileBytes damaged = file;
      const std::size_t at =
          i % 4 == 0 ? random() % std::min<std::size_t>(file.size(), 80) : random() % file.size();
      if (i % 2 == 0)
        damaged.resize(at + 1);
      else
        damaged[at] = static_cast<std::byte>(random() % 256);
      ReadOptions options;
      options.limits.pixels = 1 << 20;
      options.allow_partial = i % 3 == 0;
      ++(expect_same_by_rows(damaged, "x" + sample.extension, options) ? good : bad);
    }
  }
  EXPECT_GT(good, 20);
  EXPECT_GT(bad, 20);
}

std::unique_ptr<FileRows> opened(const fs::path& path, const FileBytes& bytes,
                                 const ReadOptions& options = {}) {
  store(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return open_rows(path, options);
}

TEST(RowReader, RefusesFilesWithoutRows) {
  const TemporaryFolder folder;
  const auto refused = [&](ErrorKind kind, const std::string& text, const std::string& name,
                           const FileBytes& bytes) {
    expect_error(kind, text, [&] { static_cast<void>(opened(folder / name, bytes)); });
    expect_error(kind, name, [&] { static_cast<void>(open_rows(folder / name)); });
  };
  const Shape shape = shape_of(5, 4, 1, Type::u8);
  refused(ErrorKind::usage, "as a whole", "x.png", encoded(shape, ".png"));
  refused(ErrorKind::usage, "as a whole", "x.bmp", encoded(shape, ".bmp"));
  refused(ErrorKind::usage, "binary", "x.pgm", bytes_of("P2\n1 1\n255\n3\n"));
  refused(ErrorKind::input, "empty", "none.tif", {});
  refused(ErrorKind::input, "not an image format", "x.txt", bytes_of("these are no pixels"));
  expect_error(ErrorKind::usage, "standard input", [] { static_cast<void>(open_rows("-")); });
  expect_error(ErrorKind::input, "folder", [&] { static_cast<void>(open_rows(folder.path())); });
  expect_error(ErrorKind::input, "no such file", [&] { static_cast<void>(open_rows(folder / "missing")); });
  expect_error(ErrorKind::usage, "not a file", [] { static_cast<void>(open_rows("/dev/zero")); });
}

TEST(RowReader, KeepsToTheLimits) {
  const TemporaryFolder folder;
  ReadOptions options;
  const FileBytes file = encoded(shape_of(1000, 3000, 3, Type::u8), ".ppm");
  options.limits.bytes = 2'000'000;  // the picture has 9 million
  std::uint64_t told = 0;
  options.accept = [&](const Shape& shape, std::uint64_t beside) {
    EXPECT_EQ(shape, shape_of(1000, 3000, 3, Type::u8));
    told = beside;
  };
  EXPECT_EQ(opened(folder / "x.ppm", file, options)->shape(), shape_of(1000, 3000, 3, Type::u8));
  EXPECT_GT(told, 0U);
  EXPECT_LE(told, options.limits.bytes);
  options.limits.bytes = told - 1;
  expect_error(ErrorKind::input, "--max-bytes",
               [&] { static_cast<void>(open_rows(folder / "x.ppm", options)); });
  options.limits.bytes = told;
  options.limits.pixels = 2'999'999;
  expect_error(ErrorKind::input, "--max-pixels",
               [&] { static_cast<void>(open_rows(folder / "x.ppm", options)); });
}

TEST(RowReader, GivesNoMoreRowsThanThereAre) {
  const TemporaryFolder folder;
  const auto rows = opened(folder / "x.pgm", encoded(shape_of(4, 3, 1, Type::u8), ".pgm"));
  Image two(shape_of(4, 2, 1, Type::u8)), wide(shape_of(5, 1, 1, Type::u8));
  rows->read(two.view());
  expect_error(ErrorKind::usage, "1 are left", [&] { rows->read(two.view()); });
  expect_error(ErrorKind::usage, "cannot be read into", [&] { rows->read(wide.view()); });
  EXPECT_EQ(rest_of(*rows, 1).shape().height, 1);
}

TEST(RowReader, SaysIfTheFileHasBecomeShorter) {
  const TemporaryFolder folder;
  for (const std::string extension : {".pgm", ".npy", ".tif"}) {
    if (!can_write(extension)) continue;
    const fs::path path = folder / ("x" + extension);
    const auto rows = opened(path, encoded(shape_of(4000, 2000, 1, Type::u8), extension));
    fs::resize_file(path, 100);
    expect_error(ErrorKind::input, "x" + extension, [&] { static_cast<void>(rest_of(*rows, 2000)); });
  }
}

TEST(RowReader, GivesTheRowsOfAPictureInMemory) {
  const Image image = random_image(shape_of(31, 90, 3, Type::u16));
  ImageRows rows(image);
  static_cast<void>(rest_of(rows, 40));
  rows.rewind();
  expect_same(rest_of(rows, 90, 4), image, "in memory");
  ImageView turned = image.view();
  turned.data += turned.strides.row * 89;
  turned.strides.row = -turned.strides.row;
  ImageRows upwards(turned);
  expect_same(rest_of(upwards, 90), copy_of(turned), "turned over");
  ImageView planes = image.view();
  planes.strides = planar_strides(planes.shape);
  expect_error(ErrorKind::usage, "interleaved", [&] { const ImageRows refused(planes); });
}

}  // namespace
}  // namespace satin::test
