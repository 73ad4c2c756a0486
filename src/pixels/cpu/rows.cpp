// read_row(): the dispatch to rows-inl.h for files that are not compiled for every SIMD target themselves.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "pixels/cpu/rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "pixels/cpu/rows-inl.h"
#include "pixels/transfer.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

// Highway dispatches plain functions, so each instance of ReadRow() needs a name.
void ReadRowU32(const RowReader& reader, const std::byte* source, std::size_t pixels, std::uint32_t* values) {
  ReadRow(reader, source, pixels, values);
}
void ReadRowU64(const RowReader& reader, const std::byte* source, std::size_t pixels, std::uint64_t* values) {
  ReadRow(reader, source, pixels, values);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(ReadRowU32);
HWY_EXPORT(ReadRowU64);

template <>
void read_row(const RowReader& reader, const std::byte* source, std::size_t pixels, std::uint32_t* values) {
  HWY_DYNAMIC_DISPATCH(ReadRowU32)(reader, source, pixels, values);
}
template <>
void read_row(const RowReader& reader, const std::byte* source, std::size_t pixels, std::uint64_t* values) {
  HWY_DYNAMIC_DISPATCH(ReadRowU64)(reader, source, pixels, values);
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
