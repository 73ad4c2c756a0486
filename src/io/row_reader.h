#pragma once
// How a codec gives the rows of a picture that stays in its file.

#include <functional>
#include <memory>
#include <span>

#include "io/codec.h"
#include "io/input_file.h"

namespace satin::io {

/// One picture of a file. Errors lack the name of the file.
class RowReader {
 public:
  RowReader(const RowReader&) = delete;
  RowReader& operator=(const RowReader&) = delete;
  virtual ~RowReader() = default;

  /// Those from row `y` on, which exist, to interleaved host memory.
  virtual void read(std::int64_t y, const MutableImageView& rows) = 0;

  Shape shape{};
  Metadata metadata{};  ///< as Codec::decode gives it
  std::vector<std::string> warnings{};

 protected:
  RowReader() = default;
};

/// The limits of a picture that is never whole in memory.
[[nodiscard]] inline ReadLimits without_bytes(const ReadLimits& limits) { return {limits.pixels, INT64_MAX}; }

/// As accept() for a picture that is never whole in memory: the limit of bytes holds for those that are
/// `held`, which are what is told as beside the picture.
void accept_rows(std::uint64_t width, std::uint64_t height, int channels, Type type, std::uint64_t held,
                 const ReadOptions& options);

/// Pixels that are stored row after row, each with so many bytes.
struct StoredRows {
  const char* format = "";
  Shape shape{};
  std::uint64_t start = 0;  ///< of the first row in the file
  std::size_t row_bytes = 0;
  bool upwards = false;  ///< the last row is the first in the file
  /// Stored bytes of a row, which it may change, to the pixels of one.
  std::function<void(std::span<std::byte> stored, std::byte* pixels)> decode{};
};

/// `file` must outlive the rows.
[[nodiscard]] std::unique_ptr<RowReader> stored_rows(const InputFile& file, StoredRows rows,
                                                     const ReadOptions& options);

}  // namespace satin::io
