#include "app/exit_code.h"

namespace satin::app {

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::input:
      return 1;
    case ErrorKind::usage:
      return 2;
    case ErrorKind::environment:
      return 3;
    case ErrorKind::cancelled:
      return exit_interrupted;
  }
  return 1;
}

int exit_code(const BatchResult& result) noexcept {
  if (result.cancelled) return exit_interrupted;
  return result.failure ? exit_code(*result.failure) : exit_good;
}

}  // namespace satin::app
