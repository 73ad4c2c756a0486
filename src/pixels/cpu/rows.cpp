// read_row(): the dispatch to rows-inl.h for files that are not compiled for every SIMD target themselves.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "pixels/cpu/rows-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

void ReadRowOf(const RowReader& reader, const std::byte* source, std::size_t pixels, std::size_t sum_bytes,
               void* values) {
  sum_bytes == 4 ? ReadRow(reader, source, pixels, static_cast<std::uint32_t*>(values))
                 : ReadRow(reader, source, pixels, static_cast<std::uint64_t*>(values));
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(ReadRowOf);

void read_row_of(const RowReader& reader, const std::byte* source, std::size_t pixels, std::size_t sum_bytes,
                 void* values) {
  HWY_DYNAMIC_DISPATCH(ReadRowOf)(reader, source, pixels, sum_bytes, values);
}

RowReader row_reader(const PixelRead& read, const Measured* measured, bool squared) {
  RowReader reader;
  reader.read = read;
  reader.transfer = host_transfer(read.type, read.transfer == Transfer::srgb);
  reader.squared = squared;
  if (read.fixed_point)
    reader.exponents =
        squared ? squared_exponents(*measured, read.fixed_bits) : fixed_exponents(*measured, read.fixed_bits);
  return reader;
}

}  // namespace satin::cpu
#endif
