// The filter of a library, compiled once for each library: SATIN_FILTER is its name, SATIN_MIXER true for
// mixers.

#include "hosts/frei0r/name.h"

namespace satin::frei0r {
const char* const filter_of_library = SATIN_FILTER;
const bool library_is_mixer = SATIN_MIXER;
}
