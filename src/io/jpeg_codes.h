#pragma once
// The Huffman codes of sequential JPEG files, read for nothing but to see that they are all there.

#include <array>
#include <cstdint>
#include <vector>

#include "io/codec.h"

namespace satin::io {

/// What a code and the bits of the number behind it take and do.
struct CodeStep {
  std::uint8_t bits = 0;          ///< of both; 0: there is no such code
  std::uint8_t coefficients = 0;  ///< that it stands for
};

/// A table of codes (ITU-T T.81, C.2).
class CodeTable {
 public:
  /// The rest of the block without a coefficient.
  static constexpr unsigned end_of_block = 64;

  /// `counts`: 16 bytes, of the codes of each length; as many `symbols` as they say. False for more codes
  /// than there can be, and for symbols that no sequential file has.
  [[nodiscard]] bool define(Bytes counts, Bytes symbols, bool of_first_coefficients);

  [[nodiscard]] bool defined() const noexcept { return defined_; }

  /// By the next 16 bits.
  [[nodiscard]] CodeStep step(std::uint32_t bits) const noexcept {
    const CodeStep found = short_[bits >> (16 - short_bits)];
    return found.bits != 0 ? found : long_step(bits);
  }

 private:
  static constexpr unsigned short_bits = 10;

  [[nodiscard]] CodeStep long_step(std::uint32_t bits) const noexcept;

  bool defined_ = false;
  std::array<CodeStep, 1U << short_bits> short_{};
  std::array<CodeStep, 256> steps_{};        ///< in the order of the codes
  std::array<std::uint32_t, 17> limits_{};   ///< behind the codes of a length, as 16 bits; 0: none
  std::array<std::uint32_t, 17> first_{};    ///< code of that length
  std::array<std::uint32_t, 17> offsets_{};  ///< of its step
};

/// The tables of one block.
struct BlockTables {
  const CodeTable* first = nullptr;  ///< of the first coefficient
  const CodeTable* others = nullptr;
};

/// True if the data, with a zero byte behind every byte 0xFF, is that many units of these blocks and less
/// than a byte more.
[[nodiscard]] bool holds_codes(Bytes data, const std::vector<BlockTables>& unit, std::uint64_t units);

}  // namespace satin::io
