#pragma once

namespace [[gnu::visibility("default")]] satin {

/// Returns the version of the library, such as "0.2.0".
[[nodiscard]] const char* version() noexcept;

}  // namespace satin
