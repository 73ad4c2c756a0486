#pragma once
// What commands have in common that look at pictures and write none.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "app/command_line.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/json.h"

namespace satin::app {

[[nodiscard]] Device open_device(const ParsedLine& line);

/// How such pictures are read: one is refused by its header where memory is free for less than it takes.
[[nodiscard]] ReadOptions analysis_reading(const ParsedLine& line);

/// True if the line names one file, that may be standard input, of which one picture is taken: no folder,
/// pattern or list.
[[nodiscard]] bool names_one_file(const ParsedLine& line);

/// "stack.tif, page 2"; the name alone if `page` is 0.
[[nodiscard]] std::string name_with_page(const BatchFile& file, std::size_t page);

/// The work on each file; `alone` if there is no other one. It gives the error that it ended with.
using FileWork = std::function<std::optional<Error>(const BatchFile& file, bool alone)>;

/// Calls `work` for each file that the line names, those of folders too, whatever became of the others. With
/// `json`, which is inside of an object, "files" becomes an array that `work` writes to, and the exit code
/// follows. Gives the exit code. Throws Error(usage) if there are no inputs.
int for_each_file(const ParsedLine& line, JsonWriter* json, const FileWork& work);

/// The work on each picture; with --all-pages `page` counts those of its file, otherwise it is 0.
using PictureWork = std::function<void(const BatchFile& file, const Image& picture, std::size_t page)>;

/// Reads the pictures that the line names, folders too, and calls `work` for each. A file that cannot be read
/// or worked on is reported and the others are done. With `json`, which is inside of an object, "files"
/// becomes an object for each file or page, of its name, its shape and what `work` adds, or its error, and
/// the exit code follows; with `one` the members of the one file stand alone. Gives the exit code. Throws
/// Error(usage) if there are no inputs.
int for_each_picture(const ParsedLine& line, JsonWriter* json, const PictureWork& work, bool one = false);

}  // namespace satin::app
