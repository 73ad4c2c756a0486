#include "metadata/md5.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace satin::io {
namespace {

constexpr std::size_t block_size = 64;
using State = std::array<std::uint32_t, 4>;

/// The integer part of 2^32 |sin(i)|, i from 1 (RFC 1321, 3.4).
const std::array<std::uint32_t, 64>& sines() {
  static const auto table = [] {
    std::array<std::uint32_t, 64> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::uint32_t>(std::abs(std::sin(static_cast<double>(i + 1))) * 4294967296.0);
    return values;
  }();
  return table;
}

struct Step {
  std::uint32_t mixed;  ///< what the function of the round makes of three words
  std::size_t word;     ///< of the block
};

Step step_of(const State& s, std::size_t i) {
  const auto [a, b, c, d] = s;
  switch (i / 16) {
    case 0:
      return {(b & c) | (~b & d), i};
    case 1:
      return {(b & d) | (c & ~d), (5 * i + 1) % 16};
    case 2:
      return {b ^ c ^ d, (3 * i + 5) % 16};
    default:
      return {c ^ (b | ~d), 7 * i % 16};
  }
}

void add_block(State& state, Bytes block) {
  static constexpr int rotations[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
  State s = state;
  for (std::size_t i = 0; i < block_size; ++i) {
    const Step step = step_of(s, i);
    const std::uint32_t sum = s[0] + step.mixed + sines()[i] + le32(block, 4 * step.word);
    s = {s[3], s[1] + std::rotl(sum, rotations[i / 16][i % 4]), s[1], s[2]};
  }
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += s[i];
}

/// The last bytes with a one, zeros, and the length in bits.
FileBytes last_blocks(Bytes rest, std::uint64_t length) {
  Sink sink;
  sink.add(rest);
  sink.u8(0x80);
  while (sink.position % block_size != block_size - 8) sink.u8(0);
  sink.le32(static_cast<std::uint32_t>(length * 8));
  sink.le32(static_cast<std::uint32_t>(length >> 29));
  return std::move(sink.bytes);
}

}  // namespace

std::string md5_of(Bytes bytes) {
  State state{0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};
  const std::size_t whole = bytes.size() / block_size * block_size;
  const FileBytes last = last_blocks(bytes.subspan(whole), bytes.size());
  for (const Bytes part : {bytes.first(whole), Bytes(last)})
    for (std::size_t at = 0; at < part.size(); at += block_size)
      add_block(state, part.subspan(at, block_size));
  std::string digits;
  for (const std::uint32_t word : state)
    for (int shift : {4, 0, 12, 8, 20, 16, 28, 24}) digits += "0123456789ABCDEF"[word >> shift & 15U];
  return digits;
}

}  // namespace satin::io
