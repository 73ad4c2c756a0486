#include "batch/outputs.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "batch/quoted.h"
#include "satin/io.h"
#include "satin/param.h"

namespace satin::batch {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> writable_extensions() {
  std::vector<std::string> extensions;
  for (const FormatInfo& format : formats())
    if (format.writes)
      extensions.insert(extensions.end(), format.extensions.begin(), format.extensions.end());
  return extensions;
}

bool is_writable_extension(std::string extension) {
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::vector<std::string> known = writable_extensions();
  return std::find(known.begin(), known.end(), extension) != known.end();
}

std::string known_extensions() {
  std::string text;
  for (const std::string& extension : writable_extensions()) text += (text.empty() ? "" : " ") + extension;
  return text;
}

void check_format(const std::string& format) {
  if (format.empty() || is_writable_extension(format)) return;
  throw Error(ErrorKind::usage, "'" + format + "' is not a format that can be written." +
                                    did_you_mean(format, writable_extensions()) + "\nThere are " +
                                    known_extensions() + ".");
}

void check_extension(const fs::path& output) {
  const std::string extension = output.extension().string();
  if (is_writable_extension(extension)) return;
  const std::string reason = extension.empty()
                                 ? "has no extension that names a format"
                                 : "has the extension '" + extension + "', which cannot be written";
  throw Error(ErrorKind::usage, "The output " + quoted(output) + " " + reason + ".\nUse --format or one of " +
                                    known_extensions() + ".");
}

bool ends_with_separator(const fs::path& path) { return !path.empty() && !path.has_filename(); }

std::string default_extension(const fs::path& input, const BatchOptions& options, OutputKind kind) {
  if (!options.format.empty()) return options.format;
  return kind == OutputKind::table ? ".npy" : input.extension().string();
}

fs::path name_in_folder(const FoundInput& input, const BatchOptions& options, OutputKind kind) {
  fs::path name = options.output / input.relative;
  name.replace_extension(default_extension(input.path, options, kind));
  check_extension(name);
  return name;
}

void refuse_file_for_many(const InputList& inputs, const BatchOptions& options) {
  const bool looks_like_file = !ends_with_separator(options.output) && options.output.has_extension() &&
                               is_writable_extension(options.output.extension().string());
  std::error_code ignored;
  if (!looks_like_file || fs::is_directory(options.output, ignored)) return;
  const std::string reason = inputs.has_folder ? "A folder goes" : "Several inputs go";
  throw Error(ErrorKind::usage,
              reason + " into a folder, but " + quoted(options.output) +
                  " looks like a file.\nName a folder; end its name with '/' if that is one.");
}

}  // namespace

OutputKind output_kind(const Pipeline& pipeline) { return pipeline.back().parameters.filter().output; }

bool output_is_folder(const InputList& inputs, const BatchOptions& options) {
  std::error_code ignored;
  return inputs.has_folder || inputs.files.size() > 1 || ends_with_separator(options.output) ||
         fs::is_directory(options.output, ignored);
}

std::vector<fs::path> name_outputs(const InputList& inputs, const BatchOptions& options, OutputKind kind) {
  if (options.output.empty())
    throw Error(ErrorKind::usage, "There is no output. Name it with -o FILE, -o FOLDER/ or -o -.");
  check_format(options.format);
  if (!output_is_folder(inputs, options)) {
    if (!is_stream(options.output) && options.format.empty()) check_extension(options.output);
    return {options.output};
  }
  const bool many = inputs.has_folder || inputs.files.size() > 1;
  if (is_stream(options.output))
    throw Error(ErrorKind::usage, "Standard output takes one picture, not several. Name a folder with -o.");
  if (is_stream(inputs.files.front().path))
    throw Error(ErrorKind::usage, "A picture from standard input has no name. Name the output file with -o.");
  if (many) refuse_file_for_many(inputs, options);
  std::vector<fs::path> outputs;
  outputs.reserve(inputs.files.size());
  for (const FoundInput& input : inputs.files) outputs.push_back(name_in_folder(input, options, kind));
  return outputs;
}

std::string output_format(const BatchFile& file, const BatchOptions& options, OutputKind kind) {
  if (!options.format.empty() || !is_stream(file.output)) return options.format;
  std::string extension = default_extension(file.input, options, kind);
  if (is_writable_extension(extension)) return extension;
  throw Error(ErrorKind::usage,
              "The format for standard output is not known. Name it with --format, such as png.");
}

}  // namespace satin::batch
