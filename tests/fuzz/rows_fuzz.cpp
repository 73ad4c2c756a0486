// Files read row by row: any bytes give the result of reading them as a whole, or an Error of the same kind.
// Files that can be read only as a whole are refused as such.
//
//   build-fuzz/satin_fuzz_corpus corpus && build-fuzz/rows_fuzz -dict=tests/fuzz/decode.dict corpus

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "satin/error.h"
#include "satin/row_files.h"
#include "tests/fuzz/read_options.h"

namespace {

using satin::ErrorKind;

/// A file without a name, read through the name of its descriptor.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

struct Read {
  satin::Picture picture;
  std::optional<ErrorKind> failed;
};

template <class Work>
Read attempt(const Work& work) {
  Read read;
  try {
    read.picture = work();
  } catch (const satin::Error& error) {
    read.failed = error.kind();
  }
  return read;
}

/// Reads seven rows at a time, and everything twice.
satin::Picture read_rows(const std::string& path, const satin::ReadOptions& options) {
  const auto rows = satin::open_rows(path, options);
  satin::Image image(rows->shape());
  const satin::MutableImageView all = image.view();
  for (int pass = 0; pass < 2; ++pass) {
    for (std::int64_t y = 0; y < all.shape.height; y += 7) {
      satin::MutableImageView part = all;
      part.data = all.at(0, y);
      part.shape.height = std::min<std::int64_t>(7, all.shape.height - y);
      rows->read(part);
    }
    rows->rewind();
  }
  satin::Picture picture(std::move(image));
  picture.metadata = rows->metadata();
  return picture;
}

void require(bool holds) {
  if (!holds) std::abort();
}

void check_same(const satin::Picture& a, const satin::Picture& b) {
  require(a.image.shape() == b.image.shape());
  require(std::memcmp(a.image.data(), b.image.data(), satin::byte_size(a.image.shape())) == 0);
  require(a.metadata.icc == b.metadata.icc && a.metadata.exif == b.metadata.exif);
  require(a.metadata.xmp == b.metadata.xmp && a.metadata.iptc == b.metadata.iptc);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const MemoryFile file(data, size);
  for (const bool partial : {false, true}) {
    const satin::ReadOptions options = satin::test::small_pictures(partial);
    const Read rows = attempt([&] { return read_rows(file.path(), options); });
    if (rows.failed == ErrorKind::usage || rows.failed == ErrorKind::environment) continue;
    const Read whole = attempt([&] { return satin::read_picture(file.path(), options); });
    if (whole.failed == ErrorKind::environment) continue;
    require(rows.failed == whole.failed);
    if (!rows.failed) check_same(rows.picture, whole.picture);
  }
  return 0;
}
