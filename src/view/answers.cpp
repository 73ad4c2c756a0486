#include "view/answers.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "satin/param.h"
#include "view/settings.h"

namespace satin::view {
namespace {

constexpr double farthest = 1e9;  ///< largest distance from the picture in pixels
constexpr double smallest_zoom = 1e-4, largest_zoom = 256;
constexpr std::int64_t most_pixels = std::int64_t{1} << 24;  ///< largest viewport in pixels: 64 MiB of answer
constexpr std::size_t longest_word = 64;
constexpr int deepest = 16;                      ///< nesting of JSON
constexpr std::size_t most_values = 1U << 20;    ///< values and keys of a body
constexpr std::size_t longest_text = 64U << 10;  ///< longest text in a body, in bytes

/// Reads JSON without keeping anything, and stops at the first value beyond a limit. Parsing with nlohmann's
/// callback would take quadratic time for long arrays.
class JsonLimits : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t& text) override { return count(text.size()); }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& name) override { return count(name.size()); }
  bool start_object(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
    return false;
  }

 private:
  bool count(std::size_t length = 0) { return ++values_ <= most_values && length <= longest_text; }
  bool enter() { return ++depth_ <= deepest && count(); }
  bool leave() { return --depth_ >= 0; }

  int depth_ = 0;
  std::size_t values_ = 0;
};

}  // namespace

Answer json_answer(const nlohmann::json& json, int status) {
  return {status, "application/json", text_of(json)};
}

nlohmann::json error_json(const Error& error, const std::string& parameter) {
  return {{"message", error.what()},
          {"parameter", parameter.empty() ? nlohmann::json(nullptr) : nlohmann::json(parameter)}};
}

Answer error_answer(int status, const Error& error, const std::string& parameter) {
  return json_answer({{"error", error_json(error, parameter)}}, status);
}

Answer refused_answer(const Error& error, const std::string& parameter) {
  Answer answer = error_answer(200, error, parameter);
  answer.fields = {{state_field, "refused"}};
  return answer;
}

Answer stale_answer() {
  Answer answer =
      error_answer(200, Error(ErrorKind::cancelled, "The settings have changed meanwhile: ask again."));
  answer.fields = {{state_field, "stale"}};
  return answer;
}

Query query_of(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
    if (!query.emplace(pair.substr(0, equals), value).second)
      throw Error(ErrorKind::usage, "A name is repeated in the address.");
  }
  return query;
}

double number_in(const Query& query, std::string_view name, double least, double most) {
  const auto found = query.find(name);
  if (found == query.end()) throw Error(ErrorKind::usage, "The address lacks " + std::string(name) + ".");
  return parse_real(name, found->second, least, most);
}

Wish wish_of(const Query& query) {
  const auto flag = [&](std::string_view name) {
    return query.contains(name) && number_in(query, name, 0, 1) != 0;
  };
  Wish wish;
  wish.generation = static_cast<int>(number_in(query, "generation", 0, std::numeric_limits<int>::max()));
  wish.viewport.x = number_in(query, "x", -farthest, farthest);
  wish.viewport.y = number_in(query, "y", -farthest, farthest);
  wish.viewport.zoom = number_in(query, "zoom", smallest_zoom, largest_zoom);
  wish.viewport.width = static_cast<std::int64_t>(number_in(query, "width", 1, largest_viewport));
  wish.viewport.height = static_cast<std::int64_t>(number_in(query, "height", 1, largest_viewport));
  if (wish.viewport.width * wish.viewport.height > most_pixels)
    throw Error(ErrorKind::usage, "The viewport has too many pixels.");
  if (const auto overlay = query.find("overlay"); overlay != query.end()) wish.overlay = overlay->second;
  if (wish.overlay.size() > longest_word) throw Error(ErrorKind::usage, "There is no such overlay.");
  wish.before = flag("before");
  wish.exact = flag("exact");
  return wish;
}

nlohmann::json object_of(const std::string& body) {
  JsonLimits limits;
  nlohmann::json json;
  if (nlohmann::json::sax_parse(body, &limits)) json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object())
    throw Error(ErrorKind::usage, "The body is not a JSON object, or too deep or too long for one.");
  return json;
}

}  // namespace satin::view
