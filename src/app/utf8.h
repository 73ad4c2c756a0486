#pragma once
// Which bytes are text.

#include <cstddef>
#include <string_view>

namespace satin::app {

/// Length of the UTF-8 sequence at the start of `text`, which is not empty; 0 if there is none.
[[nodiscard]] std::size_t sequence_length(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace satin::app
