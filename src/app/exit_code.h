#pragma once
// The one place that maps errors to exit codes.

#include "satin/batch.h"
#include "satin/error.h"

namespace satin::app {

constexpr int exit_good = 0;
constexpr int exit_interrupted = 130;

[[nodiscard]] int exit_code(ErrorKind kind) noexcept;

/// One file: the code of its error. Several: 1 if any failed, 3 if the machine was the reason.
[[nodiscard]] int exit_code(const BatchResult& result) noexcept;

}  // namespace satin::app
