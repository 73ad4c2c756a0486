#include "tables/plane_table.h"

#include "tables/table.h"

namespace satin {
namespace {

constexpr std::ptrdiff_t row_alignment = 64;

MutableImageView rows_of(const Buffer& buffer, const Shape& shape, std::ptrdiff_t row, Memory memory) {
  const auto size = static_cast<std::ptrdiff_t>(size_of(shape.type));
  return {buffer.get(), shape, {size, row, size, 0}, memory};
}

std::ptrdiff_t aligned_row(std::int64_t width, Type type) {
  const auto bytes = static_cast<std::ptrdiff_t>(width * static_cast<std::int64_t>(size_of(type)));
  return (bytes + row_alignment - 1) / row_alignment * row_alignment;
}

}  // namespace

PlaneTable::PlaneTable(Backend& backend, std::int64_t width, std::int64_t height, Type type,
                       std::uint64_t maximum, Accumulator accumulator) {
  const Type sums = accumulator == Accumulator::u32 ? Type::u32 : Type::u64;
  const std::ptrdiff_t plane_row = aligned_row(width, type);
  const std::ptrdiff_t table_row = aligned_row(width, sums);
  const Memory memory = backend.host_memory ? Memory::host : Memory::device;
  plane_buffer_ = backend.allocate(static_cast<std::size_t>(plane_row * height));
  table_buffer_ = backend.allocate(static_cast<std::size_t>(table_row * height));
  plane_ = rows_of(plane_buffer_, {width, height, 1, type}, plane_row, memory);
  table_ = rows_of(table_buffer_, {width, height, 1, sums}, table_row, memory);
  PixelRead read;
  read.type = type;
  read.maximum = maximum;
  operation_ = backend.prepare(TableJob{width, height, read, false, accumulator});
}

}  // namespace satin
