#pragma once
// Parses requests of the page and makes answers.

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "satin/error.h"
#include "view/renderer.h"
#include "view/server.h"

namespace satin::view {

/// Field that says which pixels an answer has, or why it has none.
constexpr const char* state_field = "X-Satin-State";

[[nodiscard]] Answer json_answer(const nlohmann::json& json, int status = 200);

/// Returns {"error": {"message", "parameter"}}.
[[nodiscard]] Answer error_answer(int status, const Error& error, const std::string& parameter = "");

/// Return the JSON of error_answer(), for errors that are expected during work. The status is 200, because
/// browsers write all others to the console. X-Satin-State says "refused", or "stale" if only the settings
/// have changed meanwhile.
[[nodiscard]] Answer refused_answer(const Error& error, const std::string& parameter = "");
[[nodiscard]] Answer stale_answer();

/// Returns the object in "error".
[[nodiscard]] nlohmann::json error_json(const Error& error, const std::string& parameter = "");

/// Names and values of "x=1&y=2". Nothing is decoded: values are numbers and plain words. Throws Error(usage)
/// for a repeated name.
using Query = std::map<std::string, std::string, std::less<>>;
[[nodiscard]] Query query_of(std::string_view text);

/// Returns the number of this name. Throws Error(usage) if it is missing or out of range.
[[nodiscard]] double number_in(const Query& query, std::string_view name, double least, double most);

/// Parses a request for a view. Throws Error(usage) for numbers that are missing or out of range.
[[nodiscard]] Wish wish_of(const Query& query);

/// Parses the JSON object in a body. Throws Error(usage).
[[nodiscard]] nlohmann::json object_of(const std::string& body);

}  // namespace satin::view
