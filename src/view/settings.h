#pragma once
// The settings of the page: texts by name, which become JSON, pipelines and command lines.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "satin/error.h"
#include "satin/pipeline.h"
#include "view/view.h"

namespace satin::view {

/// A filter and its settings: parameters and side inputs by name.
struct StepSettings {
  std::string filter;
  std::vector<std::pair<std::string, std::string>> values{};

  void set(std::string_view name, const std::string& text);    ///< an empty text takes it away
  [[nodiscard]] std::string get(std::string_view name) const;  ///< empty if it is not set
};

using Settings = std::vector<StepSettings>;

/// Settings that mean no pipeline.
class SettingsError : public Error {
 public:
  SettingsError(const Error& error, std::string parameter)
      : Error(error.kind(), error.what()), parameter_(std::move(parameter)) {}
  [[nodiscard]] const std::string& parameter() const noexcept { return parameter_; }

 private:
  std::string parameter_;
};

/// The settings of the pipeline that differ from the defaults.
[[nodiscard]] Settings settings_of(const Pipeline& pipeline);

/// Throws SettingsError for what the filters refuse, and for filters that make no picture.
[[nodiscard]] Pipeline pipeline_of(const Settings& settings);

/// The choices of the parameter that shows what the filter saw, without its default; empty for most filters.
[[nodiscard]] std::vector<std::string> overlays_of(const FilterRecord& filter);

/// The pipeline, in which the last filter that has this overlay shows it. Throws Error(usage) if none has it.
[[nodiscard]] Pipeline with_overlay(const Pipeline& pipeline, const std::string& overlay);

/// Every filter that makes a picture, from its record; `pictures` are the names that side inputs may have.
[[nodiscard]] nlohmann::json filters_json(const std::vector<std::string>& pictures);

[[nodiscard]] nlohmann::json settings_json(const Settings& settings);

/// Throws SettingsError for other JSON than that of settings.
[[nodiscard]] Settings settings_from(const nlohmann::json& json);

/// The text of the JSON; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string text_of(const nlohmann::json& json);

/// The word as a shell reads it back, byte for byte. Bytes that are no UTF-8 go through printf.
[[nodiscard]] std::string quoted_word(const std::string& word);

/// The words of a line without expansions, assignments and operators: quotes and backslashes are taken as
/// shells take them. Throws Error(usage) for what only a shell can do, and for a quote that is open.
[[nodiscard]] std::vector<std::string> shell_words(std::string_view line);

/// `satin FILTER INPUT -o OUTPUT --name value ...`, or `satin run` for several filters. `inputs` are words of
/// their own, options too.
[[nodiscard]] std::string command_line(const Pipeline& pipeline, const std::vector<std::string>& inputs,
                                       const std::string& output, const LineOptions& kept);

/// The name as an argument that is no option.
[[nodiscard]] std::string argument_of(const std::filesystem::path& name);

}  // namespace satin::view
