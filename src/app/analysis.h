#pragma once
// Shared parts of the commands that analyse pictures: info, stats, bins and regions.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.h"
#include "satin/batch.h"
#include "satin/device.h"
#include "satin/error.h"
#include "satin/image.h"
#include "satin/json.h"

namespace satin::app {

[[nodiscard]] Device open_device(const ParsedLine& line);

/// Returns options that refuse a picture by its header if picture and analysis need more memory than is free.
[[nodiscard]] ReadOptions analysis_reading(const ParsedLine& line);

/// Whether the line names a single file (or standard input) and reads one picture from it: no folder,
/// pattern, list or --all-pages.
[[nodiscard]] bool names_one_file(const ParsedLine& line);

/// Returns a name for messages, such as "stack.tif, page 2", or only the file's name if `page` is 0.
[[nodiscard]] std::string name_with_page(const BatchFile& file, std::size_t page);

/// Prints warnings about a file or a picture.
void warn(const std::string& name, const std::vector<std::string>& warnings);

/// Calls `report` for a file or one of its pages, after its name has been written to `json`, if that is not
/// null, `in_object` to an object of its own. Prints and writes the error of a failure, and returns it, or
/// throws it if it is Error(usage) and `throws_usage`.
std::optional<Error> report_on(const BatchFile& input, std::size_t page, JsonWriter* json, bool in_object,
                               bool throws_usage, const std::function<void()>& report);

/// Work on one file. `alone` says that it is the only file. Returns the error of a failure.
using FileWork = std::function<std::optional<Error>(const BatchFile& file, bool alone)>;

/// Calls `work` for each file that the line names, also in folders, even if other files fail. If `json` is
/// not null, it must be inside an object; `work` writes to its array "files", and the exit code follows.
/// Returns the exit code. Throws Error(usage) if there are no inputs.
int for_each_file(const ParsedLine& line, JsonWriter* json, const FileWork& work);

/// Work on one picture. With --all-pages `page` is its number in the file, otherwise 0.
using PictureWork = std::function<void(const BatchFile& file, const Image& picture, std::size_t page)>;

/// Reads the pictures that the line names, also in folders, and calls `work` for each. Failures are reported
/// and the other files are still processed. If `json` is not null, it must be inside an object; "files" gets
/// an object per file or page with name, shape and the members that `work` adds, or the error, and the exit
/// code follows. With `one` the members of the single file are written without "files". Returns the exit
/// code. Throws Error(usage) if there are no inputs.
int for_each_picture(const ParsedLine& line, JsonWriter* json, const PictureWork& work, bool one = false);

}  // namespace satin::app
