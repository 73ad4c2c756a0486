#pragma once
// The controls of a frei0r plug-in, made from the record of its filter.
//
// frei0r has texts, switches and numbers from 0 to 1. The numbers of a filter are therefore texts in the
// filter's own units, and its main number is a slider besides.

#include <string>
#include <string_view>
#include <vector>

#include "satin/filter.h"

namespace satin::frei0r {

/// Type of a control, with frei0r's numbers (F0R_PARAM_BOOL, ...).
enum class Kind { flag = 0, number = 1, text = 4 };

/// A control as hosts show it; frei0r calls it a parameter.
struct Control {
  Kind kind = Kind::text;
  std::string name;                         ///< name for hosts
  std::string explanation;                  ///< help with range, unit and default
  const ParameterRecord* record = nullptr;  ///< parameter of the filter; null for a control of the plug-in
  std::vector<std::string> choices{};       ///< texts for a control of the plug-in, the default first
  double initial = 0;                       ///< value at first, of flags and numbers
};

/// The description of a plug-in.
class Plugin {
 public:
  /// Describes the plug-in of the filter with this name. The second clip of a mixer is a side input.
  Plugin(std::string_view filter, bool is_mixer);

  /// The filter that runs.
  [[nodiscard]] const FilterRecord& filter() const noexcept { return filter_; }
  /// The name of the file, such as "satin-dof-mixer".
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// The name for people.
  [[nodiscard]] const std::string& title() const noexcept { return title_; }
  /// Controls in frei0r's order. Texts come first: ffmpeg cannot leave out flags and numbers before them.
  [[nodiscard]] const std::vector<Control>& controls() const noexcept { return controls_; }

 private:
  void add_own(const std::string& name, const std::string& help, const std::vector<std::string>& choices);
  void add_slider();

  const FilterRecord& filter_;
  std::string name_;
  std::string title_;
  std::vector<Control> controls_;
};

}  // namespace satin::frei0r
