#pragma once
// Choice of one SIMD target of this processor.

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>

#include "tests/oracles/device_under_test.h"

namespace satin::test {

/// Forces one target during its lifetime.
class ForcedTarget {
 public:
  explicit ForcedTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~ForcedTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
};

/// Calls check() under every target of this processor, until one fails.
template <class Check>
void on_every_target(const Check& check) {
  if (device_under_test().is_cuda()) GTEST_SKIP() << "SIMD is the CPU's";
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    const ForcedTarget forced(target);
    SCOPED_TRACE(hwy::TargetName(target));
    check();
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace satin::test
