#include "pixels/cpu/rows.h"

#include <algorithm>
#include <cmath>

#include "pixels/cpu/fixed_rows_simd.h"
#include "pixels/cpu/premultiplied_simd.h"
#include "pixels/cpu/rows_simd.h"
#include "pixels/cpu/transfer_simd.h"
#include "pixels/transfer.h"

namespace satin::cpu {
namespace {

/// Calls run(first, pixels) for parts of a row of at most part_entries entries.
constexpr std::size_t part_entries = 4096;

template <class Run>
void in_parts(std::size_t pixels, std::size_t channels, const Run& run) {
  const std::size_t part = part_entries / channels;
  for (std::size_t first = 0; first < pixels; first += part) run(first, std::min(part, pixels - first));
}

/// Bytes with alpha, or of linear light.
template <class Sum>
void read_bytes(const RowReader& reader, const std::uint8_t* source, std::size_t pixels, Sum* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  if (reader.transfer.decode == nullptr)
    return weigh_row(source, pixels, reader.read.channels, nullptr, values);
  in_parts(pixels, channels, [&](std::size_t first, std::size_t part) {
    std::uint16_t light[part_entries];
    const std::size_t at = first * channels;
    decode_row(source + at, part * channels, reader.transfer, light);
    if (reader.read.weighted) {
      weigh_row(source + at, part, reader.read.channels, light, values + at);
    } else {
      std::copy_n(light, part * channels, values + at);
    }
  });
}

template <class Stored, class Sum>
void read_integers(const RowReader& reader, const Stored* source, std::size_t pixels, Sum* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  const std::size_t count = pixels * channels;
  if (!reader.read.weighted && (sizeof(Stored) != 1 || reader.transfer.decode == nullptr)) {
    for (std::size_t i = 0; i < count; ++i) values[i] = decode(source[i], reader.transfer);
  } else if constexpr (sizeof(Stored) == 1) {
    read_bytes(reader, source, pixels, values);
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
void read_stored(const RowReader& reader, const std::byte* source, std::size_t pixels,
                 std::uint32_t* values) {
  const auto* stored = reinterpret_cast<const Stored*>(source);
  if (reader.plain()) return widen(stored, pixels * static_cast<std::size_t>(reader.read.channels), values);
  read_integers(reader, stored, pixels, values);
}

template <class Stored>
void read_stored(const RowReader& reader, const std::byte* source, std::size_t pixels,
                 std::uint64_t* values) {
  read_integers(reader, reinterpret_cast<const Stored*>(source), pixels, values);
}

template <class Working, class Sum>
void read_working(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values) {
  std::copy_n(reinterpret_cast<const Working*>(source),
              pixels * static_cast<std::size_t>(reader.read.channels), values);
}

template <class Code>
void store_with_alpha(const std::uint32_t* values, std::size_t pixels, std::size_t channels,
                      const TransferView& transfer, const Code* original, Code* out) {
  const std::size_t alpha = channels - 1;
  encode_row(values, pixels * channels, transfer, out);
  for (std::size_t i = 0; i < pixels * channels; i += channels) {
    out[i + alpha] = static_cast<Code>(values[i + alpha]);
    if (out[i + alpha] == 0) std::copy_n(original + i, alpha, out + i);
  }
}

double finite_or_zero(float value) { return std::isfinite(value) ? static_cast<double>(value) : 0.0; }

void read_floats(const RowReader& reader, const float* source, std::size_t pixels, std::uint64_t* values) {
  const auto channels = static_cast<std::size_t>(reader.read.channels);
  if (!reader.read.weighted && !reader.squared)
    return fix_floats(source, pixels * channels, reader.exponents.colour, values);
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
  if (read.fixed_point)
    reader.exponents =
        squared ? squared_exponents(*measured, read.fixed_bits) : fixed_exponents(*measured, read.fixed_bits);
  return reader;
}

template <class Sum>
void read_row(const RowReader& reader, const std::byte* source, std::size_t pixels, Sum* values) {
  switch (reader.read.type) {
    case Type::u8:
      return read_stored<std::uint8_t>(reader, source, pixels, values);
    case Type::u16:
      return read_stored<std::uint16_t>(reader, source, pixels, values);
    case Type::u32:
      return read_working<std::uint32_t>(reader, source, pixels, values);
    default:
      break;
  }
  if constexpr (sizeof(Sum) == 8) {
    if (reader.read.type == Type::u64) return read_working<std::uint64_t>(reader, source, pixels, values);
    read_floats(reader, reinterpret_cast<const float*>(source), pixels, values);
  }
}

void encode_row(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                std::uint8_t* codes) {
  if (transfer.decode == nullptr) return narrow(values, count, codes);
  in_parts(count, 1, [&](std::size_t first, std::size_t part) {
    std::uint16_t light[part_entries];
    narrow(values + first, part, light);
    encode_row(light, part, transfer, codes + first);
  });
}

void encode_row(const std::uint32_t* values, std::size_t count, const TransferView& transfer,
                std::uint16_t* codes) {
  if (transfer.decode != nullptr) return encode_row16(values, count, transfer, codes);
  narrow(values, count, codes);
}

void store_row_with_alpha(const std::uint32_t* values, std::size_t pixels, int channels,
                          const TransferView& transfer, const std::uint8_t* original, std::uint8_t* out) {
  store_with_alpha(values, pixels, static_cast<std::size_t>(channels), transfer, original, out);
}

void store_row_with_alpha(const std::uint32_t* values, std::size_t pixels, int channels,
                          const TransferView& transfer, const std::uint16_t* original, std::uint16_t* out) {
  store_with_alpha(values, pixels, static_cast<std::size_t>(channels), transfer, original, out);
}

template <class Stored>
void blend_row(const Stored* original, const std::uint8_t* mask, std::size_t pixels, int channels,
               const TransferView& transfer, std::uint32_t* means) {
  const auto step = static_cast<std::size_t>(channels);
  in_parts(pixels, step, [&](std::size_t first, std::size_t part) {
    std::uint16_t own[part_entries];
    std::uint16_t weights[part_entries];
    const Stored* codes = original + first * step;
    if constexpr (sizeof(Stored) == 1) {
      if (transfer.decode != nullptr) decode_row(codes, part * step, transfer, own);
    }
    if (transfer.decode == nullptr) std::copy_n(codes, part * step, own);
    for (std::size_t i = 0; i < part; ++i) std::fill_n(weights + i * step, step, mask[first + i]);
    blend_by_bytes(own, weights, part * step, means + first * step);
  });
}

template void blend_row(const std::uint8_t*, const std::uint8_t*, std::size_t, int, const TransferView&,
                        std::uint32_t*);
template void blend_row(const std::uint16_t*, const std::uint8_t*, std::size_t, int, const TransferView&,
                        std::uint32_t*);
template void read_row(const RowReader&, const std::byte*, std::size_t, std::uint32_t*);
template void read_row(const RowReader&, const std::byte*, std::size_t, std::uint64_t*);
}  // namespace satin::cpu
