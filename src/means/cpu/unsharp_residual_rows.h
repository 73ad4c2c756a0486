#pragma once
// Rows of unsharp masking for integers without alpha and mask: bytes, bytes in linear light, or 16 bits as
// stored; with a level, which side of it they are on.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "means/cpu/unsharp_residual_simd.h"
#include "means/unsharp_residual.h"

namespace satin::cpu {

class UnsharpResidualRows {
 public:
  /// For a job that is_plain(), with room for every thread.
  UnsharpResidualRows(const UnsharpResidualJob& job, int threads);

  [[nodiscard]] std::size_t bytes() const noexcept {
    return (linear_.size() + results_.size()) * entries_ * sizeof(std::uint16_t);
  }

  /// Pixels [left, right) of row y; `means` are those of the first and those behind it.
  void store(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left, std::int64_t right,
             const std::byte* means, int slot);

 private:
  template <class T>
  void store_typed(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left, std::int64_t right,
                   const std::byte* means, int slot);
  template <class T>
  void add(const T* own, const std::byte* means, std::size_t entries, int slot, T* out);

  UnsharpResidualJob job_;
  std::size_t entries_;  ///< of a row
  TransferView transfer_;
  UnsharpResidualLine line_;
  std::vector<std::vector<std::uint16_t>> linear_;   ///< a row of light for each thread
  std::vector<std::vector<std::uint16_t>> results_;  ///< with a level: a row before it, of bytes or words
};

}  // namespace satin::cpu
