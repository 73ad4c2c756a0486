#pragma once
// The parts of the gallery that are the same in every one.

#include <string_view>

namespace satin::app {

extern const std::string_view gallery_style;   ///< CSS
extern const std::string_view gallery_script;  ///< JavaScript: the search
extern const std::string_view gallery_policy;  ///< what the page may load; names the script by its hash

}  // namespace satin::app
