#pragma once
// The one error type of the library. The library throws it and never prints, exits or aborts.

#include <stdexcept>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] satin {

/// The kind of an error. The command maps each kind to an exit code.
enum class ErrorKind {
  input,        ///< a picture cannot be read or processed, or an output cannot be written (exit 1)
  usage,        ///< a name, a range, a shape or a combination that the caller can correct (exit 2)
  environment,  ///< no such device, driver too old, out of memory, disk full (exit 3)
  cancelled     ///< a Progress function of the caller returned false (exit 130)
};

/// Returns a name as messages show it: on one line and with control characters escaped ("\\n", "\\x1b").
[[nodiscard]] std::string printable(std::string_view name);

/// An error with a message of one or two lines: what, where, and what to do about it.
class Error : public std::runtime_error {
 public:
  /// The message should say what happened, where, and what to do.
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  /// The kind of the error.
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

/// A usage error that holds for pictures of some sizes: others may be processed.
class SizeError : public Error {
 public:
  /// The message should name the picture's size.
  explicit SizeError(const std::string& message) : Error(ErrorKind::usage, message) {}
};

}  // namespace satin
