#pragma once
// What differs between the libraries, each of which holds one plug-in.

namespace satin::frei0r {

extern const char* const filter_of_library;  ///< name of the filter
extern const bool library_is_mixer;          ///< whether it is a mixer of two clips

}  // namespace satin::frei0r
