#pragma once
// Calling C libraries that report errors by longjmp.

#include <csetjmp>

namespace satin::io {

/// Runs `step` and returns false if it left by longjmp(jump, 1). Nothing inside `step` may have a destructor
/// that does something: longjmp skips it.
template <class Step>
[[nodiscard]] bool guarded(std::jmp_buf& jump, const Step& step) {
  if (setjmp(jump) != 0) return false;
  step();
  return true;
}

}  // namespace satin::io
