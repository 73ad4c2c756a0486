#pragma once
// The name of the plug-in: libraries differ in nothing else, as each holds one.

namespace satin::frei0r {

extern const char* const filter_of_library;  ///< name of the filter
extern const bool library_is_mixer;          ///< whether it is a mixer of two clips

}  // namespace satin::frei0r
