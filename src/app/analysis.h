#pragma once
// What commands have in common that look at pictures and write none.

#include <functional>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/json.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/image.h"

namespace satin::app {

[[nodiscard]] Device open_device(const ParsedLine& line);

/// Text with `digits` behind the point at most, no zeros at the end.
[[nodiscard]] std::string short_number(double value, int digits = 4);

/// "grey", or "red", "green", "blue", and "alpha" for the last of 2 or 4.
[[nodiscard]] std::vector<std::string> channel_names(const Shape& shape);

/// Reads the pictures that the line names, folders too, and calls `work` for each. A file that cannot be read
/// or worked on is reported and the others are done. With `json`, which is inside of an array, every file
/// becomes an object that begins with its name and shape and ends with what `work` adds, or with its error.
/// Gives the exit code. Throws Error(usage) if there are no inputs.
int for_each_picture(const ParsedLine& line, JsonWriter* json,
                     const std::function<void(const BatchFile& file, const Image& picture)>& work);

}  // namespace satin::app
