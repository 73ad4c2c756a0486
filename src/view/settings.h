#pragma once
// The settings of the page: texts by name. They are converted to and from pipelines, JSON and command lines.

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "satin/error.h"
#include "satin/pipeline.h"
#include "view/view.h"

namespace satin::view {

/// A filter of the pipeline and its settings: parameters and side inputs by name.
struct StepSettings {
  std::string filter;
  std::vector<std::pair<std::string, std::string>> values{};

  void set(std::string_view name, const std::string& text);    ///< an empty text removes it
  [[nodiscard]] std::string get(std::string_view name) const;  ///< empty if not set
};

using Settings = std::vector<StepSettings>;

/// Error for settings that do not describe a pipeline, with the name of the parameter, which may be empty.
class SettingsError : public Error {
 public:
  SettingsError(const Error& error, std::string parameter)
      : Error(error.kind(), error.what()), parameter_(std::move(parameter)) {}
  [[nodiscard]] const std::string& parameter() const noexcept { return parameter_; }

 private:
  std::string parameter_;
};

/// Returns the settings of a pipeline that differ from their defaults.
[[nodiscard]] Settings settings_of(const Pipeline& pipeline);

/// Makes a pipeline. Throws SettingsError for values that filters refuse, and for filters that make no
/// picture.
[[nodiscard]] Pipeline pipeline_of(const Settings& settings);

/// Name of the overlay that shows the depth which a filter reads.
constexpr const char* depth_overlay = "depth";

/// Returns the choices of the parameter that shows what the filter saw, without its default. Empty for most
/// filters.
[[nodiscard]] std::vector<std::string> overlays_of(const FilterRecord& filter);

/// Returns the pipeline up to the last filter that has this overlay, which then shows it. Throws Error(usage)
/// if no filter has it.
[[nodiscard]] Pipeline with_overlay(const Pipeline& pipeline, const std::string& overlay);

/// Returns every filter that makes a picture, from its record. `pictures` are the names that side inputs may
/// have.
[[nodiscard]] nlohmann::json filters_json(const std::vector<std::string>& pictures);

[[nodiscard]] nlohmann::json settings_json(const Settings& settings);

/// Returns the name of the filter's input for masks, or nothing.
[[nodiscard]] std::optional<std::string> mask_input(const std::string& filter);

constexpr std::size_t most_steps = 64;

/// Parses the JSON of settings. Throws SettingsError for any other JSON, and for more than `most_steps`.
[[nodiscard]] Settings settings_from(const nlohmann::json& json);

/// Returns the text of the JSON. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string text_of(const nlohmann::json& json);

/// Quotes a word for a POSIX shell, which reads it back byte for byte. Bytes that are not UTF-8 are written
/// with printf, characters that change the direction of writing as $'\342\200\256' (bash, zsh, ksh).
[[nodiscard]] std::string quoted_word(const std::string& word);

/// Splits a command line into words by the rules of POSIX shells for quotes, $'...' and backslashes. Throws
/// Error(usage) for expansions, assignments and operators, which need a shell, and for an open quote. Satin
/// never runs the line.
[[nodiscard]] std::vector<std::string> shell_words(std::string_view line);

/// Return the words of inputs and output, and of options, as text for a shell.
[[nodiscard]] std::string files_text(const std::vector<std::string>& inputs, const std::string& output);
[[nodiscard]] std::string options_text(const LineOptions& options);

/// Returns `satin FILTER INPUT -o OUTPUT --name value ...`, or `satin run` for several filters. `inputs` are
/// separate words and may include options.
[[nodiscard]] std::string command_line(const Pipeline& pipeline, const std::vector<std::string>& inputs,
                                       const std::string& output, const LineOptions& kept);

/// Returns the name as an argument that cannot be mistaken for an option.
[[nodiscard]] std::string argument_of(const std::filesystem::path& name);

}  // namespace satin::view
