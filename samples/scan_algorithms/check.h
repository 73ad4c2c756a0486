#pragma once
// Every algorithm against the library or std::nth_element, and every count against its formula.

#include <ostream>

namespace study {

/// Prints what is wrong and a summary; true if nothing is.
bool check(std::ostream& out);

}  // namespace study
