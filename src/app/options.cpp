#include "app/options.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <utility>

#include "satin/error.h"
#include "satin/param.h"

namespace satin::app {
namespace {

constexpr long most_threads = 1024;
/// With --stream memory grows only with the width. This limit is far above real pictures and far below an
/// overflow of counts.
constexpr std::uint64_t most_streamed_pixels = std::uint64_t{1} << 44;
constexpr long most_pages = 999'999;  ///< about the most that libtiff follows

/// Puts dashes before the parameter's name: the library says "radius", the user wrote "--radius".
Error as_option(const Error& error, const std::string& name) {
  const std::string message = error.what();
  return {error.kind(), message.rfind(name, 0) == 0 ? "--" + message : message};
}

std::string format_of(const ParsedLine& line) {
  const std::string text = line.value("format").value_or("");
  return text.empty() || text.front() == '.' ? text : "." + text;
}

/// Parses "500000", or a number with a binary multiple: "512K", "200M", "4G", "1T".
std::uint64_t parse_bytes(const std::string& name, std::string text) {
  constexpr double most = 1ULL << 52;
  const std::string multiples = "KMGT";
  double unit = 1;
  if (!text.empty())
    if (const std::size_t at = multiples.find(text.back()); at != std::string::npos) {
      unit = static_cast<double>(std::uint64_t{1} << (10 * (at + 1)));
      text.pop_back();
    }
  return static_cast<std::uint64_t>(parse_real(name, text, 1, most / unit) * unit);
}

std::string text_of_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  if (std::filesystem::is_directory(path))
    throw Error(ErrorKind::input, "The list '" + path +
                                      "' of --files-from is a folder. Name a folder as an input, without "
                                      "--files-from.");
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    throw Error(ErrorKind::input, "The list '" + path + "' of --files-from cannot be read. Check the path.");
  return text;
}

/// Converts a list with one name per line to names that end with a zero byte; drops empty lines.
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

/// Returns the names in the list of --files-from, each ended by a zero byte; empty without that option.
std::string listed_names(const ParsedLine& line) {
  const auto path = line.value("files-from");
  if (!path) {
    if (line.flag("null"))
      throw Error(ErrorKind::usage,
                  "--null describes the list of --files-from. Name that list with --files-from.");
    return "";
  }
  std::string text = text_of_file(*path);
  if (!line.flag("null")) text = from_lines(text);
  if (text.empty()) throw Error(ErrorKind::usage, "The list '" + *path + "' of --files-from names no file.");
  return text;
}

OptionSpec mask_from_option() {
  return valued(
      "mask-from", "NAME",
      "use the photograph's portrait matte, or its inverse, as the mask (matte: as the subject of a "
      "filter that has one)",
      {.choices = {"matte", "background"}});
}

OptionSpec gain_map_option() {
  return valued("gain-map", "NAME", "filter, carry or drop an HDR gain map",
                {.default_text = "by filter", .choices = {"use", "keep", "drop"}});
}

}  // namespace

OptionSpec flag(const std::string& name, const std::string& help, OptionSpec facts) {
  facts.name = name;
  facts.help = help;
  return facts;
}

OptionSpec valued(const std::string& name, const std::string& value, const std::string& help,
                  OptionSpec facts) {
  facts.value = value;
  return flag(name, help, std::move(facts));
}

OptionSpec file(const std::string& name, const std::string& help, OptionSpec facts) {
  facts.is_file = true;
  return valued(name, facts.value.empty() ? "FILE" : facts.value, help, facts);
}

OptionSpec model_option(const std::string& help) {
  return file("model", help, {.default_text = "SATIN_DEPTH_MODEL"});
}

std::vector<OptionSpec> together(const std::vector<std::vector<OptionSpec>>& lists) {
  std::vector<OptionSpec> all;
  for (const std::vector<OptionSpec>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

OptionSpec help_option() { return flag("help", "show this page", {.letter = 'h'}); }

std::vector<OptionSpec> input_options() {
  return {flag("recursive", "also search all folders below the input folders", {.letter = 'r'}),
          file("files-from", "list of further inputs, one per line; - for standard input"),
          flag("null", "the names in that list end with zero bytes, as from find -print0", {.letter = '0'})};
}

OptionSpec simd_option() {
  return valued("simd", "NAME", "highest instruction set of the CPU to use; 'satin devices' lists them",
                {.default_text = "the best"});
}

std::vector<OptionSpec> device_options() {
  return {
      valued("device", "NAME", "device to run filters on: auto, cpu or cuda:N", {.default_text = "auto"}),
      valued("threads", "N", "number of threads on the CPU", {.range = "1 to 1024", .default_text = "all"}),
      simd_option()};
}

std::vector<OptionSpec> read_options() {
  return {valued("max-pixels", "N", "refuse pictures with more pixels",
                 {.default_text = std::to_string(ReadLimits{}.pixels)}),
          valued("max-bytes", "N", "refuse files and pictures with more bytes",
                 {.default_text = std::to_string(ReadLimits{}.bytes)}),
          valued("page", "N", "page of a TIFF, PNM, MPO or HEIC file to read, from 1"),
          valued("part", "N|NAME", "part of an OpenEXR file to read, by name or number from 1"),
          flag("all-pages", "read all pages or parts of a file, and write as many"),
          flag("allow-partial", "read the intact part of damaged or incomplete files, with a warning")};
}

std::vector<OptionSpec> write_options() {
  return {valued("jpeg-quality", "N", "quality of JPEG and WebP",
                 {.range = "1 to 100", .default_text = "as a JPEG input, else 95"}),
          flag("dither", "dither when deeper pixels become 8 bits"),
          flag("strip", "drop ICC profile, EXIF, XMP, IPTC and named channels")};
}

OptionGroup analysis_options(std::vector<OptionSpec> own, const std::string& json_help) {
  return {
      "Common options",
      together({std::move(own), device_options(), read_options(), {flag("json", json_help), help_option()}})};
}

Parameters parameters_of(const FilterRecord& filter, const ParsedLine& line) {
  Parameters parameters(filter);
  for (const auto& [name, text] : line.options) {
    if (filter.find_parameter(name) == nullptr) continue;
    if (text.empty()) throw Error(ErrorKind::usage, "The option --" + name + " needs a value.");
    try {
      parameters.set(name, text);
    } catch (const Error& error) {
      throw as_option(error, name);
    }
  }
  return parameters;
}

PipelineStep step_of(const FilterRecord& filter, const ParsedLine& line) {
  PipelineStep step{parameters_of(filter, line), {}};
  for (const InputRecord& input : filter.inputs)
    if (const auto path = line.value(input.name)) step.side_inputs.push_back({input.name, *path});
  return step;
}

ReadOptions read_options_of(const ParsedLine& line) {
  ReadOptions options;
  options.filterable = true;
  constexpr long most = std::numeric_limits<long>::max();
  const auto set = [&](const char* name, std::uint64_t& limit) {
    if (const auto text = line.value(name))
      limit = static_cast<std::uint64_t>(parse_integer("--" + std::string(name), *text, 1, most));
  };
  set("max-pixels", options.limits.pixels);
  set("max-bytes", options.limits.bytes);
  options.allow_partial = line.flag("allow-partial");
  if (const auto text = line.value("page")) options.page = parse_integer("--page", *text, 1, most_pages);
  if (const auto text = line.value("part")) {
    if (text->empty())
      throw Error(ErrorKind::usage, "--part '': the name or the number of a part is expected.");
    options.part = *text;
  }
  options.all_pages = line.flag("all-pages");
  if (options.page && !options.part.empty())
    throw Error(ErrorKind::usage,
                "--page selects from TIFF and PNM files, --part from OpenEXR files. Drop one of them.");
  if (options.all_pages && (options.page || !options.part.empty()))
    throw Error(ErrorKind::usage, "--all-pages takes all, and " +
                                      std::string(options.page ? "--page" : "--part") +
                                      " one. Drop one of them.");
  return options;
}

DeviceOptions device_options_of(const ParsedLine& line) {
  DeviceOptions options;
  if (const auto text = line.value("threads"))
    options.threads = static_cast<int>(parse_integer("--threads", *text, 1, most_threads));
  return options;
}

std::uint64_t bytes_of(const ParsedLine& line, const std::string& option) {
  const auto text = line.value(option);
  return text ? parse_bytes("--" + option, *text) : 0;
}

BatchOptions input_options_of(const ParsedLine& line) {
  BatchOptions options;
  options.inputs.assign(line.arguments.begin(), line.arguments.end());
  options.recursive = line.flag("recursive");
  if (line.value("files-from") && std::ranges::find(line.arguments, "-") != line.arguments.end())
    throw Error(ErrorKind::usage, "A picture from standard input ('-') does not go with --files-from.");
  options.list = listed_names(line);
  return options;
}

BatchOptions batch_options_of(const ParsedLine& line) {
  if (line.flag("fail-fast") && line.flag("keep-going"))
    throw Error(ErrorKind::usage, "--fail-fast and --keep-going contradict each other. Drop one of them.");
  BatchOptions options = input_options_of(line);
  options.output = line.value("output").value_or("");
  options.format = format_of(line);
  options.in_place = line.flag("in-place");
  options.backup = line.value("backup");
  options.overwrite = line.flag("overwrite");
  options.skip_existing = line.flag("skip-existing");
  options.resume = line.flag("resume");
  options.fail_fast = line.flag("fail-fast");
  if (const auto text = line.value("shard")) options.shard = parse_shard(*text);
  options.memory = bytes_of(line, "memory");
  options.threads = device_options_of(line).threads;
  options.report = line.value("report").value_or("");
  options.gallery = line.value("gallery").value_or("");
  options.read = read_options_of(line);
  if (const auto text = line.value("jpeg-quality"))
    options.quality = static_cast<int>(parse_integer("--jpeg-quality", *text, 1, 100));
  options.dither = line.flag("dither");
  options.strip = line.flag("strip");
  options.stream = line.flag("stream");
  options.pyramid = line.flag("pyramid");
  if (options.stream && !line.value("max-pixels")) options.read.limits.pixels = most_streamed_pixels;
  options.keep_metadata = line.flag("keep-metadata");
  if (const auto text = line.value("mask-from"))
    options.mask_from =
        static_cast<MaskSource>(1 + parse_choice("--mask-from", *text, mask_from_option().choices));
  options.invert_mask = line.flag("invert-mask");
  if (const auto text = line.value("gain-map"))
    options.gain_map = static_cast<GainMapUse>(parse_choice("--gain-map", *text, gain_map_option().choices));
  options.fast_decode = line.flag("fast-decode");
  options.keep_depth = line.flag("keep-depth");
  options.depth_out = line.value("depth-out").value_or("");
  options.model = line.value("model").value_or("");
  if (const auto model = line.value("from-model")) {
    options.model = *model;
    options.picture_from = PictureSource::model_mask;
  }
  return options;
}

OptionGroup batch_option_group(const FilterRecord* filter) {
  std::vector<OptionSpec> options = together(
      {{file("output", "file, folder, pattern such as {stem}_{width}.jpg, or - (standard output)",
             {.letter = 'o', .value = "PATH"})},
       input_options(),
       {flag("in-place", "replace the inputs, each once: manifests in their folders know"),
        valued("backup", "SUFFIX", "with --in-place: keep the originals as NAME and SUFFIX"),
        flag("overwrite", "replace existing outputs"),
        flag("skip-existing", "skip inputs whose output exists"),
        flag("resume", "continue a run with --resume; outputs are checked by size and hash"),
        flag("keep-going", "process the other files if one fails (the default)"),
        flag("fail-fast", "start no further file after a failure"),
        valued("shard", "I/N|auto",
               "process share I of N of the files; auto: the share that SLURM, Kubernetes or GNU parallel "
               "assigns"),
        valued("memory", "SIZE", "memory for the pictures in flight, such as 512M or 2G",
               {.default_text = "a quarter of the machine's"}),
        flag("stream",
             "filter row by row, for pictures larger than memory: from TIFF, NPY, PFM or PNM to tiled TIFF"),
        flag("pyramid", "write TIFF with additional pictures of half the size, for viewers"),
        flag("dry-run", "check everything and print what would be done"),
        file("report", "write a line of JSON for each file, and a summary"),
        file("gallery", "write an HTML page with thumbnails before and after, and the failures")}});
  options.push_back(gain_map_option());
  if (filter == nullptr || filter->name == "resize")
    options.push_back(
        flag("fast-decode",
             "decode JPEG at 1/2, 1/4 or 1/8 where resize comes first and needs no more: faster, but pixels "
             "differ by tens of codes at edges; other formats are decoded in full"));
  if (filter == nullptr || filter->traits.covers)
    options.push_back(flag("keep-metadata",
                           "keep the metadata of redacted pictures, although it may show covered content"));
  const auto is_mask = [](const InputRecord& input) { return input.role == Role::mask; };
  if (filter == nullptr || std::ranges::any_of(filter->inputs, is_mask))
    options.insert(options.end(),
                   {mask_from_option(), flag("invert-mask", "filter where the mask is black")});
  if (filter == nullptr || filter->set_by_photo) {
    options.push_back(model_option("ONNX file for --depth-from model"));
    options.push_back(
        flag("keep-depth", "store the depth of --depth-from photo and the sharp original in the JPEG"));
    options.push_back(
        file("depth-out", "write the depth of photo or model: .tif, .exr, .pfm, .npy, 16-bit .png"));
  }
  return {"Files", std::move(options)};
}

}  // namespace satin::app
