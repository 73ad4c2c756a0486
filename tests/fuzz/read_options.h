#pragma once
// Options for reading in fuzzers: small pictures, so that many are tried.

#include <cstdint>

#include "satin/io.h"

namespace satin::test {

inline ReadOptions small_pictures(bool partial) {
  ReadOptions options;
  options.limits.pixels = std::uint64_t{1} << 20;
  options.limits.bytes = std::uint64_t{1} << 25;
  options.allow_partial = partial;
  return options;
}

}  // namespace satin::test
