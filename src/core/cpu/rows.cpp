#include "core/cpu/rows.h"

#include <algorithm>
#include <cmath>

#include "core/cpu/rows_simd.h"
#include "core/transfer.h"

namespace satin::cpu {
namespace {

template <class Stored, class Sum>
void read_integers(const RowReader& reader, const Stored* source, std::size_t pixels, Sum* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  const std::size_t count = pixels * channels;
  if (!reader.read.weighted) {
    for (std::size_t i = 0; i < count; ++i) values[i] = decode(source[i], reader.transfer);
  } else {
    const std::size_t alpha = channels - 1;
    for (std::size_t i = 0; i < count; i += channels) {
      const Sum weight = source[i + alpha];
      for (std::size_t c = 0; c < alpha; ++c) values[i + c] = decode(source[i + c], reader.transfer) * weight;
      values[i + alpha] = weight;
    }
  }
  if (reader.squared)
    for (std::size_t i = 0; i < count; ++i) values[i] *= values[i];
}

template <class Stored>
void read_plain_or_integers(const RowReader& reader, const Stored* source, std::size_t pixels, std::uint32_t* values) {
  const bool plain = reader.transfer.decode == nullptr && !reader.read.weighted && !reader.squared;
  if (plain) return widen(source, pixels * static_cast<std::size_t>(reader.read.channels), values);
  read_integers(reader, source, pixels, values);
}

template <class Stored>
void read_plain_or_integers(const RowReader& reader, const Stored* source, std::size_t pixels, std::uint64_t* values) {
  read_integers(reader, source, pixels, values);
}

double finite_or_zero(float value) { return std::isfinite(value) ? static_cast<double>(value) : 0.0; }

void read_floats(const RowReader& reader, const float* source, std::size_t pixels, std::uint64_t* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  const std::size_t alpha = reader.read.weighted ? channels - 1 : channels;
  for (std::size_t p = 0; p < pixels; ++p, source += channels, values += channels) {
    const double weight = alpha < channels ? finite_or_zero(source[alpha]) : 1.0;
    for (std::size_t c = 0; c < channels; ++c) {
      double value = finite_or_zero(source[c]);
      if (c < alpha && alpha < channels) value = value * weight;
      if (reader.squared) value = value * value;
      const int exponent = c == alpha ? reader.exponents.alpha : reader.exponents.colour;
      values[c] = static_cast<std::uint64_t>(to_fixed(value, exponent));
    }
  }
}

}  // namespace

RowReader row_reader(const PixelRead& read, const Measured* measured, bool squared) {
  RowReader reader;
  reader.read = read;
  reader.transfer = host_transfer(read.type, read.transfer == Transfer::srgb);
  reader.squared = squared;
  if (read.fixed_point) reader.exponents = squared ? squared_exponents(*measured, read.fixed_bits)
                                                   : fixed_exponents(*measured, read.fixed_bits);
  return reader;
}

template <class Sum>
void read_row(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values) {
  switch (reader.read.type) {
    case Type::u8: return read_plain_or_integers(reader, reinterpret_cast<const std::uint8_t*>(source), pixels, values);
    case Type::u16:
      return read_plain_or_integers(reader, reinterpret_cast<const std::uint16_t*>(source), pixels, values);
    case Type::u32: {
      const auto* working = reinterpret_cast<const std::uint32_t*>(source);
      std::copy_n(working, pixels * static_cast<std::size_t>(reader.read.channels), values);
      return;
    }
    case Type::u64:
      if constexpr (sizeof(Sum) == 8) {
        const auto* working = reinterpret_cast<const std::uint64_t*>(source);
        std::copy_n(working, pixels * static_cast<std::size_t>(reader.read.channels), values);
      }
      return;
    case Type::f32:
      if constexpr (sizeof(Sum) == 8) read_floats(reader, reinterpret_cast<const float*>(source), pixels, values);
      return;
    case Type::f64: return;
  }
}

template <class Sum>
void scan_row(const Sum* values, std::size_t pixels, int channels, const Sum* above, Sum* out) {
  Sum running[4] = {};
  const auto step = static_cast<std::size_t>(channels);
  for (std::size_t i = 0; i < pixels * step; i += step) {
    for (std::size_t c = 0; c < step; ++c) {
      running[c] += values[i + c];
      out[i + c] = above == nullptr ? running[c] : above[i + c] + running[c];
    }
  }
}

template void read_row(const RowReader&, const std::byte*, std::size_t, std::uint32_t*);
template void read_row(const RowReader&, const std::byte*, std::size_t, std::uint64_t*);
template void scan_row(const std::uint32_t*, std::size_t, int, const std::uint32_t*, std::uint32_t*);
template void scan_row(const std::uint64_t*, std::size_t, int, const std::uint64_t*, std::uint64_t*);

}  // namespace satin::cpu
