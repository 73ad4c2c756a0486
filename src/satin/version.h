#pragma once

namespace [[gnu::visibility("default")]] satin {

/// "0.1.0"
[[nodiscard]] const char* version() noexcept;

}  // namespace satin
