#pragma once

namespace [[gnu::visibility("default")]] satin {

/// "0.2.0"
[[nodiscard]] const char* version() noexcept;

}  // namespace satin
