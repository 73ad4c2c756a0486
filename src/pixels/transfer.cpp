#include "pixels/transfer.h"

#include <cmath>

namespace satin {
namespace {

double srgb_to_linear(double encoded) {
  return encoded <= 0.04045 ? encoded / 12.92 : std::pow((encoded + 0.055) / 1.055, 2.4);
}

std::uint32_t linear_value(double code, double codes, int bits) {
  return static_cast<std::uint32_t>(
      std::floor((std::ldexp(1.0, bits) - 1) * srgb_to_linear(code / (codes - 1)) + 0.5));
}

std::uint32_t threshold(double code, double codes, int bits) {
  if (code == 0) return 0;
  return static_cast<std::uint32_t>(
      std::ceil((std::ldexp(1.0, bits) - 1) * srgb_to_linear((code - 0.5) / (codes - 1))));
}

TransferTables build8() {
  TransferTables tables;
  tables.encode8.resize(65536);
  for (std::uint32_t code = 0; code < 256; ++code) {
    tables.decode8[code] = linear_value(code, 256, 16);
    tables.thresholds8[code] = static_cast<std::uint16_t>(threshold(code, 256, 16));
    const std::uint32_t end = code == 255 ? 65536 : threshold(code + 1, 256, 16);
    for (std::uint32_t v = threshold(code, 256, 16); v < end; ++v)
      tables.encode8[v] = static_cast<std::uint8_t>(code);
  }
  return tables;
}

TransferTables build16() {
  constexpr std::uint32_t codes = 65536;
  TransferTables tables;
  tables.decode16.resize(codes);
  tables.thresholds16.resize(codes);
  tables.first_code16.resize(codes + 1);
  for (std::uint32_t code = 0; code < codes; ++code) {
    tables.decode16[code] = linear_value(code, codes, 24);
    tables.thresholds16[code] = threshold(code, codes, 24);
  }
  std::uint32_t code = 0;
  for (std::uint32_t i = 0; i <= codes; ++i) {
    while (code + 1 < codes && tables.thresholds16[code + 1] <= i * 256) ++code;
    tables.first_code16[i] = static_cast<std::uint16_t>(code);
  }
  return tables;
}

}  // namespace

const TransferTables& srgb_tables8() {
  static const TransferTables tables = build8();
  return tables;
}

const TransferTables& srgb_tables16() {
  static const TransferTables tables = build16();
  return tables;
}

TransferView host_transfer(Type type, bool srgb) {
  TransferView view;
  if (srgb && type == Type::u8) {
    view.decode = srgb_tables8().decode8.data();
    view.encode8 = srgb_tables8().encode8.data();
  } else if (srgb && type == Type::u16) {
    view.decode = srgb_tables16().decode16.data();
    view.thresholds = srgb_tables16().thresholds16.data();
    view.first_code = srgb_tables16().first_code16.data();
  }
  return view;
}

}  // namespace satin
