#include "app/batch_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "app/option_specs.h"
#include "app/settings.h"
#include "satin/error.h"
#include "satin/nvjpeg_decoder.h"
#include "satin/param.h"

namespace satin::app {
namespace {

std::string format_of(const ParsedLine& line) {
  const std::string text = line.value("format").value_or("");
  return text.empty() || text.front() == '.' ? text : "." + text;
}

/// "512M": a whole number of bytes, K, M, G or T (times 1024).
std::uint64_t bytes_of(const std::string& text) {
  constexpr std::string_view units = "KMGT";
  std::uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::size_t power = unit.empty() ? 0 : units.find(unit.front()) + 1;
  const bool known = unit.size() <= 1 && (unit.empty() || power != 0) && power <= units.size();
  const std::uint64_t factor = std::uint64_t{1} << (10 * (known ? power : 0));
  if (code != std::errc() || !known || number == 0 || number > UINT64_MAX / factor)
    throw Error(ErrorKind::usage, "--memory '" + text + "': a size such as 512M or 2G is expected.");
  return number * factor;
}

Shard shard_of(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos)
    throw Error(ErrorKind::usage, "--shard '" + text + "': a part such as 2/8 is expected.");
  constexpr long most = 1'000'000;
  const long count = parse_integer("--shard", text.substr(slash + 1), 1, most);
  return {static_cast<int>(parse_integer("--shard", text.substr(0, slash), 1, count)),
          static_cast<int>(count)};
}

std::string text_of_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    throw Error(ErrorKind::input, "The list '" + path + "' of --files-from cannot be read. Check the path.");
  return text;
}

/// One name a line becomes one name a zero byte; empty lines are left out.
std::string from_lines(const std::string& text) {
  std::string names;
  for (std::size_t first = 0; first < text.size();) {
    const std::size_t end = std::min(text.find('\n', first), text.size());
    const bool returned = end > first && text[end - 1] == '\r';
    if (const std::size_t size = end - first - (returned ? 1 : 0); size != 0)
      names.append(text, first, size).append(1, '\0');
    first = end + 1;
  }
  return names;
}

/// The names in the list of --files-from, each ended by a zero byte; empty without that option.
std::string listed_names(const ParsedLine& line) {
  const auto path = line.value("files-from");
  if (!path) {
    if (line.flag("null"))
      throw Error(ErrorKind::usage, "--null tells how the list of --files-from is written. Name that list.");
    return "";
  }
  std::string text = text_of_file(*path);
  if (!line.flag("null")) text = from_lines(text);
  if (text.empty()) throw Error(ErrorKind::usage, "The list '" + *path + "' of --files-from names no file.");
  return text;
}

void refuse_both(const ParsedLine& line, const char* one, const char* other) {
  if (line.flag(one) && line.flag(other))
    throw Error(ErrorKind::usage,
                std::string("--") + one + " and --" + other + " contradict each other. Drop one of them.");
}

/// Refuses nvJPEG at once where it is sure that there is none.
JpegDecoder jpeg_decoder_of(const ParsedLine& line) {
  const auto text = line.value("jpeg-decoder");
  const std::vector<std::string> choices = jpeg_decoder_option().choices;
  if (!text || parse_choice("--jpeg-decoder", *text, choices) == 0) return JpegDecoder::libjpeg;
  const std::string device = line.value("device").value_or("auto");
  if (device.find("cuda") == std::string::npos && device.find("cpu") != std::string::npos)
    throw Error(ErrorKind::usage, "--jpeg-decoder nvjpeg decodes on a GPU, and --device " + device +
                                      " names none. Choose one by --device cuda:N, or drop --jpeg-decoder.");
  NvjpegDecoder::require();
  return JpegDecoder::nvjpeg;
}

void check_streams(const BatchOptions& options, const ParsedLine& line) {
  const bool stream = std::find(options.inputs.begin(), options.inputs.end(), "-") != options.inputs.end();
  if (stream && line.value("files-from"))
    throw Error(ErrorKind::usage, "A picture from standard input ('-') does not go with --files-from.");
}

}  // namespace

BatchOptions input_options_of(const ParsedLine& line) {
  BatchOptions options;
  options.inputs.assign(line.arguments.begin(), line.arguments.end());
  options.recursive = line.flag("recursive");
  check_streams(options, line);
  options.list = listed_names(line);
  return options;
}

BatchOptions batch_options_of(const ParsedLine& line) {
  refuse_both(line, "skip-existing", "overwrite");
  refuse_both(line, "skip-existing", "resume");
  refuse_both(line, "fail-fast", "keep-going");
  BatchOptions options = input_options_of(line);
  options.output = line.value("output").value_or("");
  options.format = format_of(line);
  options.overwrite = line.flag("overwrite");
  options.skip_existing = line.flag("skip-existing");
  options.resume = line.flag("resume");
  options.fail_fast = line.flag("fail-fast");
  if (const auto text = line.value("shard")) options.shard = shard_of(*text);
  if (const auto text = line.value("memory")) options.memory = bytes_of(*text);
  options.threads = device_options_of(line).threads;
  options.report = line.value("report").value_or("");
  options.gallery = line.value("gallery").value_or("");
  options.read = read_options_of(line);
  options.jpeg_decoder = jpeg_decoder_of(line);
  if (const auto text = line.value("jpeg-quality"))
    options.quality = static_cast<int>(parse_integer("--jpeg-quality", *text, 1, 100));
  options.dither = line.flag("dither");
  options.strip = line.flag("strip");
  return options;
}

OptionGroup batch_option_group() {
  OptionSpec output =
      file("output", "file, folder, pattern such as {dir}/{stem}_soft.{ext}, or - for standard output", 'o');
  output.value = "PATH";
  OptionSpec memory = valued("memory", "SIZE", "for the pictures in flight, such as 512M or 2G");
  memory.default_text = "a quarter of the machine's";
  OptionGroup group{"Files", {output}};
  for (const OptionSpec& option : input_options()) group.options.push_back(option);
  group.options.push_back(flag("overwrite", "replace outputs that exist"));
  group.options.push_back(flag("skip-existing", "leave out inputs whose output exists"));
  group.options.push_back(
      flag("resume", "go on where a run with --resume ended: outputs are checked by size and hash"));
  group.options.push_back(flag("keep-going", "do the other files if one fails (the default)"));
  group.options.push_back(flag("fail-fast", "begin no other file if one fails"));
  group.options.push_back(valued("shard", "I/N", "do one of N parts of the files, the same in every run"));
  group.options.push_back(memory);
  group.options.push_back(flag("dry-run", "check everything and say what would be done"));
  group.options.push_back(file("report", "write a line of JSON for each file, and one that sums up"));
  group.options.push_back(
      file("gallery", "write a page (HTML) with small pictures before and after, and the failures"));
  return group;
}

}  // namespace satin::app
