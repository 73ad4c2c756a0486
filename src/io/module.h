#pragma once
// Modules: libraries that are loaded when they are first needed.
//
// Linking OpenCV would cost every start of the command 50 to 70 ms, and OpenEXR 2 to 3 ms. Debian's libheif
// links an encoder under the GPL, which Satin's own libraries and command stay apart from.

#include <string>
#include <string_view>

#include "io/codec.h"

namespace satin::io {

/// Returns the function `entry` of the module `file`. It is searched beside the binary of this code, beside
/// the program, and in the installation folder. Returns null with the reason in `error` on failure. Modules
/// are never unloaded.
[[nodiscard]] void* load_module(const char* file, const char* entry, std::string& error);

/// Table of functions of a module, loaded by the constructor.
template <class Functions>
struct Module {
  const Functions* functions = nullptr;
  std::string error;  ///< reason for null `functions`

  Module(const char* file, const char* entry, const auto& version) {
    void* const function = load_module(file, entry, error);
    if (function == nullptr) return;
    functions = reinterpret_cast<const Functions* (*)()>(function)();
    if (functions->version == version) return;
    functions = nullptr;
    error = "it belongs to another version of Satin";
  }
};

/// A module of codecs as codecs.cpp knows it.
struct ModuleOfCodecs {
  bool is_built;       ///< whether this build has it
  const char* file;    ///< name of the module
  const char* needed;  ///< message where it cannot be loaded, before the reason
  const char* remedy;  ///< message after the reason
};

/// The table of a module of codecs, which its function satin_codecs() returns. Its classes are those of one
/// version of Satin, and it holds the code of satin_io that it uses.
struct CodecModule {
  std::string_view version;        ///< version() of the library
  void (*complete)(Codec& codec);  ///< sets the functions of a codec of this module
};

}  // namespace satin::io
