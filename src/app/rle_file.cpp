#include "app/rle_file.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "satin/error.h"
#include "satin/io.h"

namespace satin::app {
namespace {

using Json = nlohmann::json;

constexpr int deepest = 32;
constexpr std::size_t largest_file = std::size_t{128} << 20U;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::input, what); }

Json parsed(std::string_view text) {
  const auto check_depth = [](int depth, Json::parse_event_t, const Json&) {
    if (depth > deepest) refuse("it is nested deeper than " + std::to_string(deepest) + " levels.");
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check_depth);
  } catch (const Json::parse_error& error) {
    refuse("it is no JSON, from byte " + std::to_string(error.byte) + " on.");
  } catch (const Json::exception&) {
    refuse("it holds a number that is too large.");
  }
}

const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// Returns an integer from 0 to `most`; `what` is its name for the message.
std::int64_t whole(const Json& value, std::int64_t most, const std::string& what) {
  const bool fits =
      value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
  if (!fits) refuse(what + " is no whole number from 0 to " + std::to_string(most) + ".");
  return value.get<std::int64_t>();
}

void check_size(std::int64_t height, std::int64_t width) {
  const auto most = static_cast<std::int64_t>(ReadLimits{}.pixels);
  if (height < 1 || width < 1 || height > most / width)
    refuse("a mask of " + std::to_string(width) + " x " + std::to_string(height) + " pixels: 1 to " +
           std::to_string(most) + " are possible.");
}

constexpr std::int64_t largest_side = INT32_MAX;
constexpr std::int64_t largest_count = UINT32_MAX;

RunLengths run_lengths_of(const Json& object) {
  const Json& size = object.at("size");
  if (!size.is_array() || size.size() != 2) refuse("\"size\" is not [height, width].");
  const std::int64_t height = whole(size[0], largest_side, "the height in \"size\"");
  const std::int64_t width = whole(size[1], largest_side, "the width in \"size\"");
  check_size(height, width);
  const Json& counts = object.at("counts");
  if (counts.is_string()) return parse_compressed_counts(counts.get_ref<const std::string&>(), height, width);
  if (!counts.is_array()) refuse("\"counts\" is neither text nor a list of numbers.");
  RunLengths runs{height, width, {}};
  if (counts.size() <= static_cast<std::size_t>(height * width) + 1) runs.counts.reserve(counts.size());
  for (const Json& count : counts)
    runs.counts.push_back(static_cast<std::uint32_t>(whole(count, largest_count, "a number in \"counts\"")));
  validate(runs);
  return runs;
}

bool is_run_lengths(const Json& value) {
  return member(value, "size") != nullptr && member(value, "counts") != nullptr;
}

/// Returns the run lengths that an entry of a list is or contains.
const Json& run_lengths_in(const Json& entry) {
  if (is_run_lengths(entry)) return entry;
  for (const char* key : {"rle", "segmentation"}) {
    const Json* found = member(entry, key);
    if (found == nullptr) continue;
    if (is_run_lengths(*found)) return *found;
    if (found->is_array())
      refuse("it is made of polygons, not of run lengths. Convert it with COCO's tools.");
  }
  refuse(
      "there are no run lengths {\"size\": [h, w], \"counts\": ...} in it. 'satin regions' writes them "
      "unless "
      "--rle is none.");
}

std::int64_t label_of(const Json& entry, std::size_t place) {
  for (const char* key : {"label", "id"})
    if (const Json* found = member(entry, key))
      return whole(*found, INT64_MAX, std::string("\"") + key + "\"");
  return static_cast<std::int64_t>(place) + 1;
}

/// Returns the list of entries, or null if the file is a single entry.
const Json* list_in(const Json& root) {
  if (root.is_array()) return &root;
  for (const char* key : {"regions", "annotations"})
    if (const Json* found = member(root, key); found != nullptr && found->is_array()) return found;
  if (member(root, "files") != nullptr)
    refuse("it holds the regions of several masks. Give the object of one of them.");
  return nullptr;
}

void take_size(MaskList& list, std::int64_t width, std::int64_t height) {
  if (list.width != 0 && (list.width != width || list.height != height))
    refuse("it holds masks of " + std::to_string(list.width) + " x " + std::to_string(list.height) + " and " +
           std::to_string(width) + " x " + std::to_string(height) + " pixels: give those of one picture.");
  list.width = width;
  list.height = height;
}

void take_entry(MaskList& list, const Json& entry, std::size_t place) {
  try {
    RunLengths runs = run_lengths_of(run_lengths_in(entry));
    take_size(list, runs.width, runs.height);
    list.masks.push_back({label_of(entry, place), std::move(runs)});
  } catch (const Error& error) {
    refuse("mask " + std::to_string(place + 1) + ": " + error.what());
  }
}

void check_one_picture(const Json& entry, std::optional<Json>& picture) {
  const Json* id = member(entry, "image_id");
  if (id == nullptr) return;
  if (picture && *picture != *id)
    refuse("its annotations belong to several pictures (image_id). Give those of one picture.");
  picture = *id;
}

MaskList masks_of(const Json& root) {
  MaskList list;
  if (const Json* image = member(root, "image");
      image != nullptr && member(*image, "width") != nullptr && member(*image, "height") != nullptr) {
    list.width = whole(image->at("width"), largest_side, "the width of \"image\"");
    list.height = whole(image->at("height"), largest_side, "the height of \"image\"");
    check_size(list.height, list.width);
  }
  const Json* entries = list_in(root);
  if (entries == nullptr) {
    take_entry(list, root, 0);
    return list;
  }
  std::optional<Json> picture;
  for (std::size_t i = 0; i < entries->size(); ++i) {
    check_one_picture((*entries)[i], picture);
    take_entry(list, (*entries)[i], i);
  }
  return list;
}

std::string read_text(std::istream& stream) {
  std::string text;
  std::vector<char> block(1U << 16U);
  while (stream.read(block.data(), static_cast<std::streamsize>(block.size())), stream.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
    if (text.size() > largest_file)
      refuse("it is larger than " + std::to_string(largest_file >> 20U) + " MiB.");
  }
  if (stream.bad()) refuse("it cannot be read.");
  return text;
}

/// Runs `work` and prepends the name of the file to its errors.
template <class Work>
auto named(const std::string& name, const Work& work) {
  try {
    return work();
  } catch (const Error& error) {
    throw Error(error.kind(), name + ": " + error.what());
  }
}

}  // namespace

MaskList parse_masks(std::string_view text, const std::string& name) {
  return named(name, [&] { return masks_of(parsed(text)); });
}

MaskList read_masks(const std::string& path) {
  if (path == "-")
    return parse_masks(named("standard input", [] { return read_text(std::cin); }), "standard input");
  const std::string text = named(path, [&] {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path)) refuse("the file cannot be read. Check its name.");
    return read_text(file);
  });
  return parse_masks(text, path);
}

}  // namespace satin::app
