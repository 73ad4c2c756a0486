#pragma once
// `satin mask --from-rle FILE -o OUTPUT`: run lengths back to a mask.

#include "app/command_line.h"
#include "app/commands.h"

namespace satin::app {

/// The command of the filter `mask`, which also takes run lengths in place of pictures: --from-rle, --label.
[[nodiscard]] CommandSpec with_run_lengths(CommandSpec mask);

}  // namespace satin::app
