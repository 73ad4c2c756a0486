#pragma once
// Ways to a box mean: prepare_box_mean() chooses.

#include <memory>

#include "core/cpu/backend.h"
#include "means/box_mean.h"

namespace satin::cpu {

std::unique_ptr<BoxMeanOperation> prepare_box_mean_constant(CpuBackend& backend, const BoxMeanJob& job);
std::unique_ptr<BoxMeanOperation> prepare_box_mean_map(CpuBackend& backend, const BoxMeanJob& job);
/// Null if the job is not for it.
std::unique_ptr<BoxMeanOperation> prepare_box_mean_strips(CpuBackend& backend, const BoxMeanJob& job);

/// 32-bit sums where the job allows them and their differences fit a signed word, as SIMD conversion wants
/// them.
[[nodiscard]] bool narrow_sums(const BoxMeanJob& job);
/// Whether means of whole boxes with such sums stay below word_divide_limit, too.
[[nodiscard]] bool divides_words(const BoxMeanJob& job);

}  // namespace satin::cpu
