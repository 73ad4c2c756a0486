#pragma once
// Who measures where the time of runs goes.

#include <chrono>
#include <functional>

namespace satin {

/// What a run does one after the other. Those of one picture that the device filters in windows, or that lies
/// in its memory already, are all `kernels`.
enum class RunPart { copy_up, kernels, copy_down };

/// Told when a part began and when the device was done with it, from the thread that called run().
using RunListener = std::function<void(RunPart part, std::chrono::steady_clock::time_point begin,
                                       std::chrono::steady_clock::time_point end)>;

}  // namespace satin
