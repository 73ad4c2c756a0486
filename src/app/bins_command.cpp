// satin bins: the masks of the zones and their pixels as files.

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "app/analysis.h"
#include "app/interrupt.h"
#include "app/options.h"
#include "app/report.h"
#include "satin/error.h"
#include "satin/io.h"
#include "satin/statistics.h"

namespace satin::app {
namespace {

namespace fs = std::filesystem;

/// "zone_03.png": as many digits as the last zone has.
std::string zone_name(std::int64_t zone, std::int64_t zones) {
  const std::string last = std::to_string(zones - 1);
  const std::string number = std::to_string(zone);
  return "zone_" + std::string(last.size() - number.size(), '0') + number + ".png";
}

std::vector<fs::path> outputs_of(const fs::path& folder, std::int64_t zones) {
  std::vector<fs::path> paths;
  for (std::int64_t zone = 0; zone < zones; ++zone) paths.push_back(folder / zone_name(zone, zones));
  paths.push_back(folder / "pixels.npy");
  paths.push_back(folder / "positions.npy");
  return paths;
}

void check_outputs(const std::vector<fs::path>& paths, bool overwrite) {
  const auto found =
      std::find_if(paths.begin(), paths.end(), [](const fs::path& p) { return fs::exists(p); });
  if (found != paths.end() && !overwrite)
    throw Error(ErrorKind::usage,
                "The output '" + found->string() + "' exists. Use --overwrite to replace it.");
}

Image mask_of_zone(const Image& zones, std::int64_t zone) {
  Shape shape = zones.shape();
  shape.type = Type::u8;
  Image mask(shape);
  const auto* from = reinterpret_cast<const std::uint16_t*>(zones.data());
  const auto wanted = static_cast<std::uint16_t>(zone);
  std::transform(from, from + shape.width * shape.height, reinterpret_cast<std::uint8_t*>(mask.data()),
                 [&](std::uint16_t value) { return static_cast<std::uint8_t>(value == wanted ? 255 : 0); });
  return mask;
}

void write_zones(const ToneZones& zones, const std::vector<fs::path>& paths, bool overwrite) {
  WriteOptions options;
  options.overwrite = overwrite;
  const auto write = [&](const fs::path& path, const Image& image) {
    const PatientWork patient(Patience::endless);
    write_image(path, image, options);
  };
  const std::size_t count = zones.counts.size();
  for (std::size_t zone = 0; zone < count; ++zone)
    write(paths[zone], mask_of_zone(zones.zones, static_cast<std::int64_t>(zone)));
  write(paths[count], zones.pixels);
  write(paths[count + 1], zones.positions);
}

std::string table_of(const ToneZones& zones, const Bins& bins, const std::vector<fs::path>& paths) {
  std::string text;
  for (std::size_t zone = 0; zone < zones.counts.size(); ++zone)
    text += printable(paths[zone].native()) + ": " + std::to_string(zones.counts[zone]) + " pixels from " +
            short_number(edge_of(bins, zone)) + " to below " + short_number(edge_of(bins, zone + 1)) + "\n";
  return text;
}

void add_zones(JsonWriter& json, const ToneZones& zones, const Bins& bins,
               const std::vector<fs::path>& paths) {
  const std::size_t count = zones.counts.size();
  json.key("pixels").string(paths[count].string()).key("positions").string(paths[count + 1].string());
  add_bins(json, bins, zones.counts, std::vector<std::string>(paths.begin(), paths.begin() + bins.count()));
}

fs::path folder_of(const ParsedLine& line) {
  const auto folder = line.value("output");
  if (!folder) throw Error(ErrorKind::usage, "There is no output: name a folder with -o DIR.");
  if (fs::exists(*folder) && !fs::is_directory(*folder))
    throw Error(ErrorKind::usage, "The output '" + *folder + "' is a file: name a folder with -o DIR.");
  return *folder;
}

/// Where the results of one of several pictures go: DIR/sub/a for sub/a.png.
fs::path folder_of(const fs::path& folder, const BatchFile& file) {
  return folder / fs::path(file.output).replace_extension();
}

/// Throws Error(usage) if two pictures share a folder, or a result exists.
void check_folders(const ParsedLine& line, const fs::path& folder, std::int64_t zones) {
  std::set<fs::path> folders;
  for (const BatchFile& file : find_pictures(input_options_of(line)).files) {
    const fs::path own = folder_of(folder, file);
    if (!folders.insert(own).second)
      throw Error(ErrorKind::usage, "Two pictures would both be sorted into '" + own.string() +
                                        "'. Rename one of them, or run them separately.");
    check_outputs(outputs_of(own, zones), line.flag("overwrite"));
  }
}

void create_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw Error(ErrorKind::input,
                "The folder '" + folder.string() + "' cannot be made: " + failed.message() + ".");
}

int run(const CommandSpec& command, const ParsedLine& line) {
  const Parameters parameters = parameters_of(*command.filter, line);
  const auto& tones = *static_cast<const ToneBins*>(parameters.data());
  const fs::path folder = folder_of(line);
  const bool one = names_one_file(line) && fs::is_regular_file(line.arguments.front());
  if (!one) check_folders(line, folder, tones.bins);
  const bool as_json = line.flag("json");
  const Device device = open_device(line);
  JsonWriter json;
  const auto sort = [&](const BatchFile& file, const Image& picture, std::size_t page) {
    const Bins bins = tones.of(picture.shape().type);
    fs::path own = one ? folder : folder_of(folder, file);
    if (page != 0) own /= "page_" + std::to_string(page);
    const std::vector<fs::path> paths = outputs_of(own, tones.bins);
    check_outputs(paths, line.flag("overwrite"));
    const ToneZones zones = tone_zones(device, picture, bins);
    create_folder(own);
    write_zones(zones, paths, line.flag("overwrite"));
    if (as_json) return add_zones(json, zones, bins, paths);
    print(table_of(zones, bins, paths));
  };
  json.begin_object();
  const int code = for_each_picture(line, as_json ? &json : nullptr, sort, one);
  if (as_json) print(json.end_object().text() + "\n");
  return code;
}

}  // namespace

CommandSpec bins_command(CommandSpec command) {
  command.usage = "INPUT... -o DIR [options]";
  command.details =
      "Writes a mask for each zone (zone_0.png, ...), all pixels zone after zone in raster order\n"
      "(pixels.npy), and x and y of each (positions.npy). The tone is the luminance\n"
      "0.2126 R + 0.7152 G + 0.0722 B of the values as stored. Values beyond the ends belong to the first\n"
      "and to the last zone. Of several pictures each has a folder in DIR, named after it, with one for each "
      "page.";
  command.run = run;
  OptionSpec output = file("output", "folder for the results; it is created", 'o');
  output.value = "DIR";
  std::vector<OptionSpec> own = input_options();
  own.push_back(output);
  own.push_back(flag("overwrite", "replace outputs that exist"));
  command.groups = {{"Filter options", own_options(*command.filter)},
                    analysis_options(std::move(own), "print a report as JSON on standard output")};
  return command;
}

}  // namespace satin::app
