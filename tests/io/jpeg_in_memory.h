#pragma once
// A JPEG file that libjpeg writes into memory.

// jpeglib.h needs FILE and size_t first.
#include <cstdio>
#include <cstdlib>

#include <jpeglib.h>

#include "tests/io/support.h"

namespace satin::test {

class JpegInMemory {
 public:
  JpegInMemory() {
    info.err = jpeg_std_error(&errors_);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &memory_, &size_);
  }
  ~JpegInMemory() {
    jpeg_destroy_compress(&info);
    std::free(memory_);
  }
  JpegInMemory(const JpegInMemory&) = delete;
  JpegInMemory& operator=(const JpegInMemory&) = delete;

  /// Ends the picture.
  FileBytes finish() {
    jpeg_finish_compress(&info);
    const auto* first = reinterpret_cast<const std::byte*>(memory_);
    return {first, first + size_};
  }

  jpeg_compress_struct info{};

 private:
  jpeg_error_mgr errors_{};
  unsigned char* memory_ = nullptr;
  unsigned long size_ = 0;
};

}  // namespace satin::test
