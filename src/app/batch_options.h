#pragma once
// The options of commands that filter pictures, one or very many.

#include "app/command_line.h"
#include "app/commands.h"
#include "satin/batch.h"

namespace satin::app {

/// What is read, what becomes of existing outputs, which files are done, and what is told.
[[nodiscard]] OptionGroup batch_option_group();

/// Throws Error(usage) for values and combinations; reads the list of --files-from.
[[nodiscard]] BatchOptions batch_options_of(const ParsedLine& line);

/// The same for what tells the inputs alone.
[[nodiscard]] BatchOptions input_options_of(const ParsedLine& line);

}  // namespace satin::app
