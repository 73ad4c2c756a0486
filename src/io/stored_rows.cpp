#include <algorithm>
#include <utility>

#include "io/row_reader.h"
#include "io/support.h"
#include "satin/error.h"

namespace satin::io {
namespace {

/// Bytes that are read at once: as many as a disk gives quickly.
constexpr std::size_t piece = std::size_t{1} << 20;

class RowsAsStored final : public RowReader {
 public:
  RowsAsStored(const InputFile& file, StoredRows rows, std::size_t held)
      : file_(file), rows_(std::move(rows)), buffer_(held) {
    shape = rows_.shape;
  }

  void read(std::int64_t y, const MutableImageView& rows) override {
    const auto most = static_cast<std::int64_t>(buffer_.size() / rows_.row_bytes);
    for (std::int64_t done = 0; done < rows.shape.height;) {
      const std::int64_t count = std::min(most, rows.shape.height - done);
      const std::int64_t first = rows_.upwards ? shape.height - (y + done) - count : y + done;
      const std::span<std::byte> stored(buffer_.data(), static_cast<std::size_t>(count) * rows_.row_bytes);
      file_.read(rows_.start + static_cast<std::uint64_t>(first) * rows_.row_bytes, stored, rows_.format);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t row = rows_.upwards ? count - 1 - i : i;
        rows_.decode(stored.subspan(static_cast<std::size_t>(row) * rows_.row_bytes, rows_.row_bytes),
                     rows.at(0, done + i));
      }
      done += count;
    }
  }

 private:
  const InputFile& file_;
  StoredRows rows_;
  FileBytes buffer_;
};

}  // namespace

void accept_rows(std::uint64_t width, std::uint64_t height, int channels, Type type, std::uint64_t held,
                 const ReadOptions& options) {
  ReadOptions rows = options;
  rows.limits = without_bytes(options.limits);
  if (held > options.limits.bytes)
    throw Error(ErrorKind::input, "reading its rows takes " + std::to_string(held) +
                                      " bytes of memory, which is over the limit of " +
                                      std::to_string(options.limits.bytes) + ". Raise it (--max-bytes).");
  accept(width, height, channels, type, rows, held);
}

std::unique_ptr<RowReader> stored_rows(const InputFile& file, StoredRows rows, const ReadOptions& options) {
  const Shape& shape = rows.shape;
  const std::size_t whole = rows.row_bytes * static_cast<std::size_t>(shape.height);
  const std::size_t held = std::min(whole, std::max(piece / rows.row_bytes, std::size_t{1}) * rows.row_bytes);
  accept_rows(static_cast<std::uint64_t>(shape.width), static_cast<std::uint64_t>(shape.height),
              shape.channels, shape.type, held, options);
  return std::make_unique<RowsAsStored>(file, std::move(rows), held);
}

}  // namespace satin::io
