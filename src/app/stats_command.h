#pragma once
// `satin stats`: numbers about pictures.

#include "app/commands.h"

namespace satin::app {

[[nodiscard]] CommandSpec stats_command();

}  // namespace satin::app
