#pragma once
// A plane of unsigned integers that an operation computes for itself, and its summed-area table.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/backend.h"
#include "tables/maths/gather.h"
#include "tables/table.h"

namespace satin {

class PlaneTable {
 public:
  /// The plane has type u8 or u32 and values up to `maximum`. Sums are modulo 2^32 or 2^64.
  PlaneTable(Backend& backend, std::int64_t width, std::int64_t height, Type type, std::uint64_t maximum,
             Accumulator accumulator)
      : plane_(allocate(backend, {width, height, 1, type}, plane_buffer_)),
        table_(allocate(backend, {width, height, 1, accumulator == Accumulator::u32 ? Type::u32 : Type::u64},
                        table_buffer_)) {
    PixelRead read;
    read.type = type;
    read.maximum = maximum;
    operation_ = backend.prepare(TableJob{width, height, read, false, accumulator});
  }

  /// Returns the plane, to be filled before run().
  [[nodiscard]] MutableImageView plane() const { return plane_; }
  void run(Stream stream) { operation_->run(plane_, nullptr, table_, stream); }
  /// Returns the table. Sum is the accumulator's type.
  template <class Sum>
  [[nodiscard]] TableView<Sum> table() const {
    return {reinterpret_cast<const Sum*>(table_.data),
            table_.strides.row / static_cast<std::ptrdiff_t>(sizeof(Sum)), table_.shape.width,
            table_.shape.height};
  }
  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return plane_buffer_.size + table_buffer_.size + operation_->workspace_bytes();
  }

 private:
  /// Allocates a plane with rows aligned to 64 bytes.
  static MutableImageView allocate(Backend& backend, const Shape& shape, Buffer& buffer) {
    const auto size = static_cast<std::ptrdiff_t>(size_of(shape.type));
    const std::ptrdiff_t row = (shape.width * size + 63) / 64 * 64;
    buffer = backend.allocate(static_cast<std::size_t>(row * shape.height));
    return {buffer.get(), shape, {size, row, size, 0}, backend.memory()};
  }

  Buffer plane_buffer_;
  Buffer table_buffer_;
  MutableImageView plane_;
  MutableImageView table_;
  std::unique_ptr<TableOperation> operation_;
};

}  // namespace satin
