#pragma once
// `satin regions`: the connected areas of a mask as data.

#include "app/commands.h"

namespace satin::app {

[[nodiscard]] CommandSpec regions_command();

}  // namespace satin::app
