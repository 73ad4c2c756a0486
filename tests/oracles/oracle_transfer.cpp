#include "tests/oracles/oracle_transfer.h"

#include <algorithm>
#include <cmath>

namespace satin::test {
namespace {

long double linear_light(long double encoded) {
  return encoded <= 0.04045L ? encoded / 12.92L : std::pow((encoded + 0.055L) / 1.055L, 2.4L);
}

OracleTransfer build(int codes, int bits) {
  const long double white = std::ldexp(1.0L, bits) - 1;
  OracleTransfer transfer;
  for (int code = 0; code < codes; ++code) {
    const long double step = static_cast<long double>(codes - 1);
    const auto c = static_cast<long double>(code);
    transfer.linear.push_back(static_cast<std::int64_t>(std::floor(white * linear_light(c / step) + 0.5L)));
    transfer.threshold.push_back(
        code == 0 ? 0 : static_cast<std::int64_t>(std::ceil(white * linear_light((c - 0.5L) / step))));
  }
  return transfer;
}

}  // namespace

std::int64_t OracleTransfer::encode(std::int64_t value) const {
  const auto above = std::upper_bound(threshold.begin(), threshold.end(), value);
  return above - threshold.begin() - 1;
}

const OracleTransfer& oracle_srgb(Type type) {
  static const OracleTransfer eight = build(256, 16);
  static const OracleTransfer sixteen = build(65536, 24);
  return type == Type::u8 ? eight : sixteen;
}

}  // namespace satin::test
