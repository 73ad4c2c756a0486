#include "io/jpeg_codes.h"

#include <algorithm>
#include <cstring>

#include "io/support.h"

namespace satin::io {
namespace {

constexpr unsigned code_bits = 16;

CodeStep step_of(unsigned symbol, unsigned length, bool of_first_coefficients) {
  const unsigned number = symbol & 15U;
  const unsigned zeros = symbol >> 4;
  unsigned coefficients = zeros + 1;
  if (of_first_coefficients) coefficients = 1;
  if (!of_first_coefficients && number == 0 && zeros != 15) coefficients = CodeTable::end_of_block;
  return {static_cast<std::uint8_t>(length + number), static_cast<std::uint8_t>(coefficients)};
}

bool has_ff(std::uint64_t word) {
  constexpr std::uint64_t low = 0x0101010101010101, high = 0x8080808080808080;
  const std::uint64_t zeros_for_ff = ~word;
  return ((zeros_for_ff - low) & ~zeros_for_ff & high) != 0;
}

/// The bits of the data, and as many zeros behind them as are asked for.
class Bits {
 public:
  explicit Bits(Bytes data) : data_(data) {}

  /// Leaves 32 at least to be looked at.
  void refill() noexcept {
    if (count_ >= 32) return;
    if (data_.size() - at_ >= sizeof(std::uint64_t)) {
      const std::uint64_t word = std::uint64_t{be32(data_, at_)} << 32 | be32(data_, at_ + 4);
      if (!has_ff(word)) {
        next_ |= word >> count_;
        const unsigned bytes = (64 - count_) / 8;
        at_ += bytes;
        count_ += 8 * bytes;
        return;
      }
    }
    while (count_ <= 56) add_byte();
  }

  [[nodiscard]] std::uint32_t peek() const noexcept {
    return static_cast<std::uint32_t>(next_ >> (64 - code_bits));
  }

  void skip(unsigned bits) noexcept {
    next_ <<= bits;
    count_ -= bits;
  }

  /// True if bits were skipped that the data does not have.
  [[nodiscard]] bool overrun() const noexcept { return count_ < added_; }

  /// True if less than a byte is left.
  [[nodiscard]] bool used_up() const noexcept {
    return !overrun() && at_ == data_.size() && count_ - added_ < 8;
  }

 private:
  void add_byte() noexcept {
    std::uint64_t byte = 0;
    if (at_ == data_.size()) {
      added_ += 8;
    } else {
      byte = byte_at(data_, at_);
      at_ = std::min(at_ + (byte == 0xFF ? 2 : 1), data_.size());
    }
    next_ |= byte << (56 - count_);
    count_ += 8;
  }

  Bytes data_;
  std::size_t at_ = 0;
  std::uint64_t next_ = 0;  ///< the first bit is the highest
  unsigned count_ = 0;
  unsigned added_ = 0;  ///< zeros behind the data
};

/// False for a code that there is not, and for more than 64 coefficients.
bool skip_block(Bits& bits, const BlockTables& tables) {
  bits.refill();
  const CodeStep first = tables.first->step(bits.peek());
  if (first.bits == 0) return false;
  bits.skip(first.bits);
  constexpr unsigned block = 64;
  for (unsigned coefficient = 1; coefficient < block;) {
    bits.refill();
    const CodeStep step = tables.others->step(bits.peek());
    if (step.bits == 0) return false;
    bits.skip(step.bits);
    if (step.coefficients == CodeTable::end_of_block) return true;
    coefficient += step.coefficients;
    if (coefficient > block) return false;
  }
  return true;
}

}  // namespace

bool CodeTable::define(Bytes counts, Bytes symbols, bool of_first_coefficients) {
  *this = CodeTable();
  std::uint32_t code = 0;
  std::uint32_t index = 0;
  for (unsigned length = 1; length <= code_bits; ++length) {
    const unsigned count = byte_at(counts, length - 1);
    code <<= 1;
    first_[length] = code;
    offsets_[length] = index;
    if (index + count > symbols.size() || index + count > steps_.size()) return false;
    if (count != 0 && code + count >= (1U << length)) return false;  // none is all ones
    for (unsigned i = 0; i < count; ++i, ++code, ++index) {
      const unsigned symbol = byte_at(symbols, index);
      if (of_first_coefficients && symbol > 11) return false;
      steps_[index] = step_of(symbol, length, of_first_coefficients);
      if (length > short_bits) continue;
      const auto from = short_.begin() + (code << (short_bits - length));
      std::fill(from, from + (1 << (short_bits - length)), steps_[index]);
    }
    limits_[length] = count == 0 ? 0 : code << (code_bits - length);
  }
  defined_ = true;
  return true;
}

CodeStep CodeTable::long_step(std::uint32_t bits) const noexcept {
  for (unsigned length = short_bits + 1; length <= code_bits; ++length)
    if (bits < limits_[length])
      return steps_[offsets_[length] + (bits >> (code_bits - length)) - first_[length]];
  return {};
}

bool holds_codes(Bytes data, const std::vector<BlockTables>& unit, std::uint64_t units) {
  Bits bits(data);
  for (std::uint64_t i = 0; i < units; ++i) {
    for (const BlockTables& tables : unit)
      if (!skip_block(bits, tables)) return false;
    if (bits.overrun()) return false;
  }
  return bits.used_up();
}

}  // namespace satin::io
