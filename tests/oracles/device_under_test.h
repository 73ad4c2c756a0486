#pragma once
// The one device that this run of the tests is about: environment variable SATIN_TEST_DEVICE, "cpu" unless
// set.

#include <span>
#include <string>

#include "satin/device.h"
#include "satin/image.h"
#include "satin/plan.h"

namespace satin::test {

/// Opened when first asked for, once. Nothing that it allocates is 0 by chance: see poisoned_memory.h.
const Device& device_under_test();

/// The CPU with so many threads, also where there are fewer cores.
Device cpu_of_threads(int count);

/// True for a build whose tests run many times slower; the long lists of cases are thinned out then.
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

/// Runs a plan on host views into a host picture filled with 0xCD before. On a GPU the same is done with
/// pictures in device memory, and a difference between the two is a failure of the test.
Image run_plan(const Device& device, Plan& plan, std::span<const ImageView> inputs);

/// A host picture whose bytes are all 0xCD.
Image poisoned(const Shape& shape);

/// "" if both hold the same bytes, otherwise the first element that differs.
std::string difference(const ImageView& result, const ImageView& expected);

}  // namespace satin::test
