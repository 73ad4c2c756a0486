// Pictures that are written row by row: the file that read_picture() and libtiff find, and its pyramid.

#include <sys/resource.h>
#include <sys/wait.h>
#include <tiffio.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <memory>
#include <random>

#include "satin/row_files.h"
#include "tests/io/support.h"

namespace satin::test {
namespace {

using Tiff = std::unique_ptr<TIFF, void (*)(TIFF*)>;

Tiff open(const fs::path& path) { return {TIFFOpen(path.c_str(), "r"), TIFFClose}; }

void write(const fs::path& path, const Image& image, const RowWriteOptions& options = {}) {
  ImageRows rows(image);
  write_rows(path, rows, options);
}

template <class Value>
Value tag(TIFF* tiff, std::uint32_t number) {
  Value value{};
  TIFFGetFieldDefaulted(tiff, number, &value);
  return value;
}

TEST(RowWriter, IsWhatReadPictureReads) {
  const TemporaryFolder folder;
  int number = 0;
  for (const Type type : {Type::u8, Type::u16, Type::u32, Type::u64, Type::f32, Type::f64})
    for (const int channels : {1, 2, 3, 4})
      for (const auto& [width, height] :
           {std::pair{1, 1}, {255, 3}, {256, 256}, {257, 259}, {3, 513}, {700, 5}}) {
        const Alpha alpha = channels % 2 == 0 ? Alpha::straight : Alpha::none;
        const Image image = random_image(shape_of(width, height, channels, type, alpha));
        const fs::path path = folder / (std::to_string(number++) + ".tif");
        write(path, image);
        expect_same(read_image(path), image, path.filename().string() + " " + describe(image.shape()));
      }
}

}  // namespace
}  // namespace satin::test
