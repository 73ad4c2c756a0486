#pragma once
// Checks every algorithm against the library or std::nth_element, and every count against its formula.

#include <ostream>

namespace study {

/// Prints all errors and a summary. Returns whether there are none.
bool check(std::ostream& out);

}  // namespace study
