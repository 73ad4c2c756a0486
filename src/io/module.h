#pragma once
// Libraries that are loaded when a file first needs them, because linking them costs every start of a
// command.

#include <string>

namespace satin::io {

struct ModuleEntry {
  void* function = nullptr;
  std::string error;  ///< why there is none
};

/// The function `entry` of the module `file`, looked for beside the binary that this code is part of, beside
/// the program, and where `install` puts it. A module is never unloaded.
[[nodiscard]] ModuleEntry load_module(const char* file, const char* entry);

}  // namespace satin::io
