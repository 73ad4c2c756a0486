#pragma once
// The device that this run of the tests is about: environment variable SATIN_TEST_DEVICE, "cpu" by default.

#include <span>
#include <string>

#include "satin/device.h"
#include "satin/image.h"
#include "satin/plan.h"

namespace satin::test {

/// Opens the device at the first call. Its memory is poisoned: see poisoned_memory.h.
const Device& device_under_test();

/// Opens the CPU with this number of threads, even if there are fewer cores.
Device cpu_of_threads(int count);

/// Whether tests of this build run many times slower. Long lists of cases are then thinned out.
constexpr bool slow_build() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return true;
#else
  return false;
#endif
#else
  return false;
#endif
}

/// Runs a plan on host views into a host picture that was filled with 0xCD. On a GPU it also runs the plan on
/// pictures in device memory and fails if the results differ.
Image run_plan(const Device& device, Plan& plan, std::span<const ImageView> inputs);

/// Returns a host picture of 0xCD bytes.
Image poisoned(const Shape& shape);

/// Returns "" if both hold the same bytes, otherwise the first element that differs.
std::string difference(const ImageView& result, const ImageView& expected);

}  // namespace satin::test
