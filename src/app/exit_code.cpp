#include "app/exit_code.h"

#include <algorithm>

namespace satin::app {

int exit_code(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::input:
      return 1;
    case ErrorKind::usage:
      return 2;
    case ErrorKind::environment:
      return 3;
  }
  return 1;
}

int exit_code(const BatchResult& result) noexcept {
  if (result.cancelled) return exit_interrupted;
  if (result.failed == 0) return exit_good;
  if (result.total == 1) return exit_code(result.files.front().error->kind());
  const bool machine = std::any_of(result.files.begin(), result.files.end(), [](const FileResult& file) {
    return file.error && file.error->kind() == ErrorKind::environment;
  });
  return exit_code(machine ? ErrorKind::environment : ErrorKind::input);
}

}  // namespace satin::app
