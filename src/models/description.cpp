#include "models/description.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <vector>

#include "satin/error.h"
#include "satin/param.h"

#if SATIN_IO_JSON
#include <nlohmann/json.hpp>
#endif

namespace satin::models {
namespace {

namespace fs = std::filesystem;

#if SATIN_IO_JSON
using Json = nlohmann::json;

constexpr std::int64_t largest_side = 16384;

/// Reads the members of one file.
class Reader {
 public:
  explicit Reader(const fs::path& file) : file_(printable(file.native())) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    json_ = Json::parse(text, nullptr, false);
    if (!json_.is_object())
      throw Error(ErrorKind::input, "'" + file_ + "' is not the JSON object that describes a model.");
  }

  void check_names() const {
    const std::vector<std::string> known = {"size",      "multiple", "layout",      "mean",
                                            "deviation", "output",   "output_name", "stretch"};
    for (const auto& [name, value] : json_.items())
      if (std::ranges::find(known, name) == known.end())
        refuse("has no member", name + "." + did_you_mean(name, known));
  }

  /// Calls read(value) if the member is there. It returns false for a value that is none of what is `wanted`.
  template <class Read>
  bool member(const char* name, const char* wanted, const Read& read) const {
    const auto found = json_.find(name);
    if (found == json_.end()) return false;
    if (!read(*found))
      refuse("needs", std::string(name) + " to be " + wanted + ", but it is " + found->dump() + ".");
    return true;
  }

  /// Sets `to` to the value of the choice that the member names.
  template <class Value>
  void choice(const char* name, const char* wanted, const std::vector<std::pair<std::string, Value>>& choices,
              Value& to) const {
    member(name, wanted, [&](const Json& value) {
      const auto chosen =
          std::ranges::find_if(choices, [&](const auto& each) { return value == each.first; });
      if (chosen != choices.end()) to = chosen->second;
      return chosen != choices.end();
    });
  }

 private:
  [[noreturn]] void refuse(const std::string& verb, const std::string& what) const {
    throw Error(ErrorKind::usage, "The description '" + file_ + "' of a model " + verb + " " + what);
  }

  std::string file_;
  Json json_;
};

bool is_side(const Json& value) { return value.is_number_integer() && value > 0 && value <= largest_side; }

bool set_size(const Json& value, Description& description) {
  if (is_side(value)) {
    description.shorter = value;
    return true;
  }
  if (!value.is_array() || value.size() != 2 || !is_side(value[0]) || !is_side(value[1])) return false;
  description.width = value[0];
  description.height = value[1];
  return true;
}

bool set_three(const Json& value, std::array<float, 3>& to, bool zero) {
  if (!value.is_array() || value.size() != to.size()) return false;
  for (std::size_t c = 0; c < to.size(); ++c) {
    if (!value[c].is_number() || (!zero && !(value[c] > 0))) return false;
    to[c] = value[c];
  }
  return true;
}

Description described(const fs::path& file) {
  Description description;
  description.is_assumed = false;
  const Reader reader(file);
  reader.check_names();
  const auto size = [&](const Json& value) { return set_size(value, description); };
  reader.member("size", "the shorter side, or [width, height]", size);
  reader.member("multiple", "a number of pixels", [&](const Json& value) {
    if (is_side(value)) description.multiple = value;
    return is_side(value);
  });
  reader.choice<std::optional<Layout>>("layout", "\"NCHW\" or \"NHWC\"",
                                       {{"NCHW", Layout::nchw}, {"NHWC", Layout::nhwc}}, description.layout);
  const auto mean = [&](const Json& value) { return set_three(value, description.mean, true); };
  const auto deviation = [&](const Json& value) { return set_three(value, description.deviation, false); };
  const bool has_mean = reader.member("mean", "three numbers, for values from 0 to 1", mean);
  const bool has_deviation = reader.member("deviation", "three numbers above 0", deviation);
  description.is_normalised = has_mean || has_deviation;
  reader.choice<Estimate>(
      "output", R"("inverse depth", "depth" (in metres) or "mask")",
      {{"inverse depth", Estimate::inverse_depth}, {"depth", Estimate::depth}, {"mask", Estimate::mask}},
      description.output);
  reader.member("output_name", "the name of an output", [&](const Json& value) {
    if (value.is_string()) description.output_name = value;
    return value.is_string();
  });
  reader.member("stretch", "true or false", [&](const Json& value) {
    if (value.is_boolean()) description.stretches = value;
    return value.is_boolean();
  });
  return description;
}
#else
Description described(const fs::path& file) {
  throw Error(
      ErrorKind::environment,
      "'" + printable(file.native()) +
          "' cannot be read, as this build of Satin has no nlohmann-json. Install it, and build again.");
}
#endif

}  // namespace

fs::path description_file(const fs::path& model) {
  fs::path file = model;
  return file.replace_extension(".json");
}

Description read_description(const fs::path& model) {
  const fs::path file = description_file(model);
  std::error_code ignored;
  return fs::exists(file, ignored) ? described(file) : Description();
}

}  // namespace satin::models
