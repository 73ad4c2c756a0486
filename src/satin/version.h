#pragma once

namespace satin {

/// "0.1.0"
[[nodiscard]] const char* version() noexcept;

}  // namespace satin
