#pragma once
// What commands have in common that look at pictures and write none.

#include <functional>
#include <string>

#include "app/command_line.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/image.h"
#include "satin/json.h"

namespace satin::app {

[[nodiscard]] Device open_device(const ParsedLine& line);

/// How such pictures are read: one is refused by its header where memory is free for less than it takes.
[[nodiscard]] ReadOptions analysis_reading(const ParsedLine& line);

/// Text with `digits` behind the point at most, no zeros at the end.
[[nodiscard]] std::string short_number(double value, int digits = 4);

/// True if the line names one file, that may be standard input: no folder, pattern or list.
[[nodiscard]] bool names_one_file(const ParsedLine& line);

/// What is done with each picture.
using PictureWork = std::function<void(const BatchFile& file, const Image& picture)>;

/// Reads the pictures that the line names, folders too, and calls `work` for each. A file that cannot be read
/// or worked on is reported and the others are done. With `json`, which is inside of an object, "files"
/// becomes an object for each file, of its name, its shape and what `work` adds, or its error, and the exit
/// code follows; with `one` the members of the one file stand alone. Gives the exit code. Throws Error(usage)
/// if there are no inputs.
int for_each_picture(const ParsedLine& line, JsonWriter* json, const PictureWork& work, bool one = false);

}  // namespace satin::app
