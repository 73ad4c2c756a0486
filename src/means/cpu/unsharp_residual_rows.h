#pragma once
// Rows of unsharp masking for integers without alpha and mask: bytes, bytes in linear light, or 16 bits as
// stored; with a level, which side of it they are on.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "means/unsharp_residual.h"

namespace satin::cpu {

class UnsharpResidualRows {
 public:
  UnsharpResidualRows() = default;
  UnsharpResidualRows(const UnsharpResidualRows&) = delete;
  UnsharpResidualRows& operator=(const UnsharpResidualRows&) = delete;
  virtual ~UnsharpResidualRows() = default;

  [[nodiscard]] virtual std::size_t bytes() const noexcept = 0;
  /// Pixels [left, right) of row y; `means` are those of the first and those behind it.
  virtual void store(const UnsharpResidualImages& images, std::int64_t y, std::int64_t left,
                     std::int64_t right, const std::byte* means, int slot) = 0;
};

/// For a job that is_plain(), with room for every thread, and the SIMD target of this processor.
[[nodiscard]] std::unique_ptr<UnsharpResidualRows> make_unsharp_residual_rows(const UnsharpResidualJob& job,
                                                                              int threads);

}  // namespace satin::cpu
