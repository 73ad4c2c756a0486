#pragma once
// Libraries that are loaded when a file first needs them, because linking them costs every start of a
// command.

#include <string>

#include "metadata/bytes.h"

namespace satin::io {

/// The function `entry` of the module `file`, looked for beside the binary that this code is part of, beside
/// the program, and where `install` puts it; null with the reason in `error`. A module is never unloaded.
[[nodiscard]] void* load_module(const char* file, const char* entry, std::string& error);

/// The functions of a module, which its entry gives.
template <class Functions>
struct Module {
  const Functions* functions = nullptr;
  std::string error;  ///< why there are none

  Module(const char* file, const char* entry, int version) {
    void* const function = load_module(file, entry, error);
    if (function == nullptr) return;
    functions = reinterpret_cast<const Functions* (*)()>(function)();
    if (functions->version == version) return;
    functions = nullptr;
    error = "it belongs to another version of Satin";
  }
};

/// What a module writes the file to that it makes: `sink` is a Sink. Returns 0 if there is no memory.
inline int write_to_sink(void* sink, const void* data, std::size_t size) {
  return static_cast<Sink*>(sink)->write(data, size) ? 1 : 0;
}

}  // namespace satin::io
