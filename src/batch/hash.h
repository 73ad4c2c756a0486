#pragma once
// FNV-1a of 64 bits: stable between runs, machines and versions. It finds accidents, not forgeries.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace satin::batch {

class Hash {
 public:
  Hash& add(std::span<const std::byte> bytes) noexcept {
    for (const std::byte byte : bytes) value_ = (value_ ^ std::to_integer<std::uint64_t>(byte)) * prime;
    return *this;
  }
  Hash& add(std::string_view text) noexcept { return add(std::as_bytes(std::span(text))); }
  Hash& add(std::uint64_t number) noexcept { return add(std::as_bytes(std::span(&number, 1))); }

  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  static constexpr std::uint64_t prime = 0x100000001b3;

  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace satin::batch
