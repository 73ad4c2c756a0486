// Pictures written row by row: the files as read_picture() and libtiff read them.

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "io/tiff_file.h"
#include "metadata/exif.h"
#include "tests/io/row_comparison.h"
#include "tests/io/tiff_pages.h"
#include "tests/oracles/device_under_test.h"

namespace satin::test {
namespace {

void write(const fs::path& path, const Image& image, const RowWriteOptions& options = {}) {
  ImageRows rows(image);
  write_rows(path, rows, options);
}

RowWriteOptions overwriting() {
  RowWriteOptions options;
  options.overwrite = true;
  return options;
}

TEST(RowWriter, WritesWhatReadPictureReads) {
  const TemporaryFolder folder;
  const std::pair<int, int> sizes[] = {{1, 1}, {255, 3}, {256, 256}, {257, 259}, {3, 513}, {700, 5}};
  std::size_t next = 0;
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64})
    for (const int channels : {1, 2, 3, 4}) {
      const Alpha alpha = channels % 2 == 0 ? Alpha::straight : Alpha::none;
      const auto& [width, height] = sizes[next++ % std::size(sizes)];
      const Image image = random_image(shape_of(width, height, channels, type, alpha));
      write(folder / "x.tif", image, overwriting());
      expect_same(read_image(folder / "x.tif"), image, describe(image.shape()));
      EXPECT_TRUE(expect_same_by_rows(load(folder / "x.tif"), "x.tif"));
    }
}

TEST(RowWriter, WritesTilesAndTagsAsLibtiffDoes) {
  const TemporaryFolder folder;
  for (const Type type : {Type::u8, Type::u16, Type::f32})
    for (const Alpha alpha : {Alpha::none, Alpha::straight, Alpha::premultiplied}) {
      if (alpha == Alpha::premultiplied && type != Type::f32) continue;
      const Image image = random_image(shape_of(300, 270, alpha == Alpha::none ? 3 : 4, type, alpha));
      write(folder / "x.tiff", image, overwriting());
      write_image(folder / "whole.tif", image, {.overwrite = true});
      const std::vector<TiffPage> pages = tiff_pages(folder / "x.tiff");
      const std::vector<TiffPage> whole_pages = tiff_pages(folder / "whole.tif");
      const TiffPage& whole = whole_pages.at(0);
      ASSERT_EQ(pages.size(), 1U);
      const TiffPage& page = pages[0];
      EXPECT_EQ(page.tile_width, 256U);
      EXPECT_EQ(page.tile_height, 256U);
      EXPECT_EQ(page.subfile, 0U);
      EXPECT_EQ(page.compression, whole.compression);
      EXPECT_EQ(page.predictor, whole.predictor);
      EXPECT_EQ(page.photometric, whole.photometric);
      EXPECT_EQ(page.format, whole.format);
      EXPECT_EQ(page.extra, whole.extra);
      EXPECT_EQ(page.bits, whole.bits);
      EXPECT_FALSE(page.big);
      expect_same(page.image, image, "by libtiff");
    }
}

Metadata some_metadata() {
  io::ExifDescription description;
  description.first[0x010F] = {2, 4, bytes_of({"abc\0", 4})};              // Make
  description.exif[0x829A] = {5, 1, bytes_of({"\1\0\0\0\x7D\0\0\0", 8})};  // ExposureTime: 1/125
  description.gps[0x0001] = {2, 2, bytes_of({"N\0", 2})};
  Metadata metadata;
  metadata.icc = bytes_of(std::string(16, 'p') + "RGB " + std::string(200, 'p'));
  metadata.exif = io::exif_block(description);
  metadata.xmp = bytes_of("<x:xmpmeta xmlns:x='adobe:ns:meta/'/>");
  metadata.iptc = bytes_of({"\x1c\2\x78\0\3abc", 8});
  metadata.resolution = Resolution{300, 150, Resolution::Unit::inch};
  return metadata;
}

TEST(RowWriter, KeepsTheMetadataThatWriteImageKeeps) {
  const TemporaryFolder folder;
  const Image image = random_image(shape_of(600, 20, 3, Type::u8));
  RowWriteOptions options;
  options.metadata = some_metadata();
  options.pyramid = true;
  options.modified = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  write(folder / "rows.tif", image, options);
  write_image(folder / "whole.tif", image, {.metadata = options.metadata});
  const Metadata rows = read_picture(folder / "rows.tif").metadata;
  const Metadata whole = read_picture(folder / "whole.tif").metadata;
  EXPECT_FALSE(whole.exif.empty());
  EXPECT_EQ(rows.icc, options.metadata.icc);
  EXPECT_EQ(rows.icc, whole.icc);
  EXPECT_EQ(rows.exif, whole.exif);
  EXPECT_EQ(rows.xmp, whole.xmp);
  EXPECT_EQ(rows.iptc, whole.iptc);
  EXPECT_EQ(rows.resolution, whole.resolution);
  EXPECT_LT(std::chrono::abs(fs::last_write_time(folder / "rows.tif") - *options.modified),
            std::chrono::seconds(1));
  options.overwrite = true;
  write(folder / "rows.tif", random_image(shape_of(20, 20, 1, Type::u8)), options);
  EXPECT_TRUE(read_picture(folder / "rows.tif").metadata.icc.empty());  // a profile of colours
}

/// Writes BigTIFF, which is otherwise used from 4 GB on.
TEST(RowWriter, BigTiffHoldsTheSame) {
  const TemporaryFolder folder;
  const Image image = random_image(shape_of(256, 256, 3, Type::u8));
  const Shape pages[] = {image.shape(), image.shape()};
  {
    NewFile file(folder / "x.tif", false);
    io::TiledTiff tiff(file, pages, some_metadata(), true);
    Image pixels = image.clone();
    const FileBytes tile =
        io::encode_tiff_tile(image.shape(), std::span(pixels.data(), byte_size(image.shape())));
    for (const std::size_t page : {1U, 0U}) tiff.add_tile(page, tile);
    tiff.finish();
    file.finish();
  }
  const std::vector<TiffPage> found = tiff_pages(folder / "x.tif");
  ASSERT_EQ(found.size(), 2U);
  for (const TiffPage& page : found) {
    EXPECT_TRUE(page.big);
    expect_same(page.image, image, "a page");
  }
  EXPECT_EQ(found[0].subfile, 0U);
  EXPECT_EQ(found[1].subfile, static_cast<std::uint32_t>(FILETYPE_REDUCEDIMAGE));
  EXPECT_NEAR(found[0].exposure_time, 1.0 / 125, 1e-6);
  const Picture picture = read_picture(folder / "x.tif");
  write_image(folder / "classic.tif", image, {.metadata = some_metadata()});
  const Picture classic = read_picture(folder / "classic.tif");
  EXPECT_EQ(picture.metadata.icc, some_metadata().icc);
  EXPECT_EQ(picture.metadata.exif, classic.metadata.exif);
  EXPECT_EQ(picture.metadata.iptc, some_metadata().iptc);
  EXPECT_EQ(picture.metadata.resolution, some_metadata().resolution);
  EXPECT_TRUE(expect_same_by_rows(load(folder / "x.tif"), "x.tif"));
}

TEST(RowWriter, BigTiffBeginsExactlyAtItsBound) {
  constexpr std::int64_t tile = 256 * 256 * 3 + 16, limit = 4'000'000'000;
  constexpr std::int64_t most = limit / tile;
  const auto big = [](std::int64_t tiles, std::size_t metadata) {
    const Shape page = shape_of(tiles * 256 - 255, 1, 3, Type::u8);
    Metadata blocks;
    blocks.xmp.resize(metadata);
    return io::needs_big_tiff({&page, 1}, blocks);
  };
  EXPECT_FALSE(big(most, 0));
  EXPECT_TRUE(big(most + 1, 0));
  EXPECT_FALSE(big(most, limit - most * tile));
  EXPECT_TRUE(big(most, limit - most * tile + 1));
  // Assumption of the bound: a tile that does not shrink hardly grows.
  Image noise = random_image(shape_of(256, 256, 3, Type::u8));
  EXPECT_LT(io::encode_tiff_tile(noise.shape(), std::span(noise.data(), tile - 16)).size(),
            tile * 1001 / 1000);
}

TEST(RowWriter, TheNumberOfThreadsDoesNotChangeTheBytes) {
  const TemporaryFolder folder;
  const Image image = random_image(shape_of(1500, 300, 3, Type::u8));
  std::vector<FileBytes> files;
  for (const int threads : {1, 2, 7, 0}) {
    RowWriteOptions options = overwriting();
    options.threads = threads;
    options.pyramid = true;
    write(folder / "x.tif", image, options);
    files.push_back(load(folder / "x.tif"));
    EXPECT_TRUE(files.back() == files.front()) << threads;
  }
}

TEST(RowWriter, BlueBecomesRed) {
  const TemporaryFolder folder;
  Image image = random_image(shape_of(5, 4, 3, Type::u16));
  ImageView view = image.view();
  view.shape.order = Order::bgr;
  ImageRows rows(view);
  write_rows(folder / "x.tif", rows);
  write_image(folder / "y.tif", view);
  expect_same(read_image(folder / "x.tif"), read_image(folder / "y.tif"), "BGR");
}

TEST(RowWriter, RefusesWhatItCannotWrite) {
  const TemporaryFolder folder;
  const Image image = random_image(shape_of(5, 4, 3, Type::u8));
  const auto refused = [&](const std::string& text, const fs::path& path, const RowWriteOptions& options = {},
                           const Shape& shape = shape_of(5, 4, 3, Type::u8)) {
    expect_error(ErrorKind::usage, text, [&] { check_rows_writable(path, shape, options); });
  };
  refused(".tif", folder / "x.png");
  refused(".tif", folder / "x");
  refused("no folder", folder / "none" / "x.tif");
  refused("standard output", "-");
  fs::create_symlink("/dev/null", folder / "null.tif");
  refused("not a file", folder / "null.tif");
  store(folder / "old.tif", "old");
  refused("exists", folder / "old.tif");
  expect_error(ErrorKind::usage, "exists", [&] { write(folder / "old.tif", image); });
  EXPECT_EQ(text_of(folder / "old.tif"), "old");
  RowWriteOptions pyramid;
  pyramid.pyramid = true;
  refused("u8, u16 or f32", folder / "x.tif", pyramid, shape_of(5, 4, 1, Type::u32));
  check_rows_writable(folder / "x.tif", image.shape(), pyramid);
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"null.tif", "old.tif"}));
}

/// Grey rows that may end in an error.
class Grey final : public RowSource {
 public:
  Grey(const Shape& shape, std::int64_t good) : shape_(shape), good_(good) {}
  [[nodiscard]] const Shape& shape() const noexcept override { return shape_; }
  void rewind() override { next_ = 0; }
  void read(const MutableImageView& rows) override {
    next_ += rows.shape.height;
    if (next_ > good_) throw Error(ErrorKind::input, "no more rows");
    std::memset(rows.data, static_cast<int>(next_ % 251), byte_size(rows.shape));
  }

 private:
  Shape shape_;
  std::int64_t good_;
  std::int64_t next_ = 0;
};

TEST(RowWriter, AFailureLeavesNoFile) {
  const TemporaryFolder folder;
  store(folder / "old.tif", "old");
  for (const char* name : {"old.tif", "new.tif"}) {
    Grey rows(shape_of(300, 2000, 1, Type::u8), 600);
    expect_error(ErrorKind::input, "no more rows", [&] { write_rows(folder / name, rows, overwriting()); });
  }
  EXPECT_EQ(text_of(folder / "old.tif"), "old");
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"old.tif"}));
}

TEST(RowWriter, AFullDiskLeavesNothing) {
  const TemporaryFolder folder;
  const Image image = random_image(shape_of(600, 600, 1, Type::u8));
  // In a child process, because the limit on file sizes applies to the whole process.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{100'000, 100'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    ::signal(SIGXFSZ, SIG_IGN);
    try {
      write(folder / "x.tif", image);
    } catch (const Error& error) {
      ::_exit(error.kind() == ErrorKind::environment ? 7 : 1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(folder.names().empty());
}

/// Returns the peak memory in KiB of writing a pyramid by rows, and of reading and writing it again.
long peak_of_rows(const TemporaryFolder& folder, std::int64_t height) {
  const Shape shape = shape_of(6000, height, 3, Type::u8);
  Grey grey(shape, height);
  RowWriteOptions options = overwriting();
  options.pyramid = true;
  options.threads = 2;
  reset_peak();
  const long before = *peak_of_memory();
  write_rows(folder / "grey.tif", grey, options);
  write_rows(folder / "again.tif", *open_rows(folder / "grey.tif"), options);
  const long peak = *peak_of_memory() - before;
  EXPECT_TRUE(load(folder / "grey.tif") == load(folder / "again.tif"));
  return peak;
}

TEST(RowWriter, MemoryFollowsTheWidth) {
  if (slow_build()) GTEST_SKIP() << "a sanitizer keeps memory of its own";
  if (!reset_peak() || !peak_of_memory()) GTEST_SKIP() << "this system does not tell the peak of memory";
  const TemporaryFolder folder;
  const long low = peak_of_rows(folder, 700), high = peak_of_rows(folder, 2800);
  // The picture has 50 MB. Memory is needed for rows of tiles of the reader, the picture and the levels.
  constexpr long row_of_tiles = 6000L * 256 * 3 / 1024;
  EXPECT_LT(high, 3 * row_of_tiles + 16 * 1024);
  EXPECT_LT(high - low, 4 * 1024);
}

}  // namespace
}  // namespace satin::test
