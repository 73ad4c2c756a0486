#pragma once
// The staircases of every radius.

#include "core/workspace.h"
#include "lens/maths/lens_kernel.h"
#include "lens/splat.h"

namespace satin {

/// Tables on the host; a backend may copy them to where it wants them.
struct LensKernels {
  WorkspaceVector<Staircase> staircases;
  WorkspaceVector<LensKernel> kernels;  ///< LensKernelView::kinds times (largest + 1)
  std::uint32_t largest = 0;
  int weight_bits = 0;
  std::int64_t reach = 0;  ///< half-extents are at most this

  [[nodiscard]] LensKernelView view() const {
    return {staircases.data(), kernels.data(), largest, weight_bits};
  }
};

/// Kernels with the variance of a lens: a disc of radius r has r^2 / 4 along each axis, and the staircases
/// whose half-extents are floor(t rho), rho = 0, 1/4, 1/2 ..., take their place, two neighbours mixed so that
/// the mean of their variances meets it. Throws as splat_weight_bits().
[[nodiscard]] LensKernels lens_kernels(const SplatJob& job);

/// Pixels of a staircase.
[[nodiscard]] std::uint64_t area_of(const Staircase& staircase, bool block);

}  // namespace satin
