#pragma once
// The one error type of the library. The library throws it and never prints, exits or aborts.

#include <stdexcept>
#include <string>
#include <string_view>

namespace [[gnu::visibility("default")]] satin {

/// What kind of thing went wrong; the command maps each kind to its exit code.
enum class ErrorKind {
  input,        ///< a picture could not be read or processed, or an output could not be written (exit 1)
  usage,        ///< a name, a range, a shape or a combination that the caller can correct (exit 2)
  environment,  ///< no such device, a driver too old, out of memory, a full disk (exit 3)
  cancelled     ///< a Progress function of the caller said so (exit 130)
};

/// A name as messages show it: on one line, with nothing that a terminal would obey ("\\n", "\\x1b").
[[nodiscard]] std::string printable(std::string_view name);

/// An error with a message of one or two lines: what, where, and what to do about it.
class Error : public std::runtime_error {
 public:
  /// `message` says what, where and what to do.
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  /// What kind of thing went wrong.
  [[nodiscard]] ErrorKind kind() const noexcept { return kind_; }

 private:
  ErrorKind kind_;
};

}  // namespace satin
