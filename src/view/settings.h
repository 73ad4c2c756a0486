#pragma once
// What the page sets, as texts, and the pipeline that it means.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "satin/error.h"
#include "satin/pipeline.h"

namespace satin::view {

/// One filter with what is set of it; parameters and side inputs by name.
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

/// What differs from the defaults.
[[nodiscard]] Settings settings_of(const Pipeline& pipeline);

/// Throws SettingsError for what the filters refuse, and for filters that make no picture.
[[nodiscard]] Pipeline pipeline_of(const Settings& settings);

/// The choices of the parameter that shows what the filter saw, without its default; empty for most filters.
[[nodiscard]] std::vector<std::string> overlays_of(const FilterRecord& filter);

/// The same pipeline whose last filter that can shows this overlay. Throws Error(usage) if none has it.
[[nodiscard]] Pipeline with_overlay(const Pipeline& pipeline, const std::string& overlay);

}  // namespace satin::view
