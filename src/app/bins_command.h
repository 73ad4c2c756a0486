#pragma once
// `satin bins`: the pixels of a picture by tone.

#include "app/commands.h"

namespace satin::app {

[[nodiscard]] CommandSpec bins_command();

}  // namespace satin::app
