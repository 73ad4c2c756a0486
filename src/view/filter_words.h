#pragma once
// The JSON that tells the page of filters and settings.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "view/settings.h"

namespace satin::view {

/// Every filter that makes a picture, from its record; `pictures` are the names that side inputs may have.
[[nodiscard]] nlohmann::json filters_json(const std::vector<std::string>& pictures);

[[nodiscard]] nlohmann::json settings_json(const Settings& settings);

/// Throws SettingsError for other JSON than that of settings.
[[nodiscard]] Settings settings_from(const nlohmann::json& json);

/// The text of the JSON; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string text_of(const nlohmann::json& json);

}  // namespace satin::view
