#pragma once
// A filter described once. The registry lists the records; everything that faces a user is made from them.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "satin/param.h"
#include "satin/photo_depth.h"
#include "satin/plan.h"

namespace satin {
struct FilterPlan;
}

namespace [[gnu::visibility("default")]] satin {

/// What a side input means to the filter.
enum class Role {
  radius_map,  ///< a radius for every pixel
  mask,        ///< where, and how much
  depth,       ///< distance or its inverse
  guide,       ///< the picture whose edges count
  aperture     ///< the opening of a lens, of any size
};

/// One side input: a picture beside the one that is filtered.
struct InputRecord {
  std::string name;        ///< "radius-map": the option is --radius-map FILE
  Role role = Role::mask;  ///< what it means
  std::string help;        ///< one line
  bool required = false;   ///< the filter cannot do without it
  /// Its view in the filter's parameter struct, for calls of the filter's own function.
  std::function<const ImageView&(const void* parameters)> view{};
};

enum class OutputKind {
  image,  ///< a picture like the input
  table,  ///< numbers: written to .npy or .tiff
  json    ///< what is known of the picture, as text
};

/// "image", "table", "json"
[[nodiscard]] const char* name_of(OutputKind kind) noexcept;

/// A picture that has a name: settings call it by that ("blur mask=soft" takes the view "soft"), JSON too.
struct NamedView {
  std::string name;  ///< what a setting says; may be empty in JSON
  ImageView view;    ///< the picture
};

/// What the property tests may expect of a filter with any parameters but a constant border, which brings in
/// a value.
struct Traits {
  bool keeps_constant = false;  ///< a constant picture comes back unchanged, byte for byte
  bool keeps_range = false;     ///< no output value lies outside the range of the input
  bool linear = false;          ///< on encoded values, up to rounding
  bool masks_alone = false;     ///< it works on masks: run lengths may stand for its picture
  bool covers = false;          ///< what it hides must not remain elsewhere in the file
};

class Parameters;

/// One filter. Parameters are passed as a pointer to the filter's own parameter struct.
struct FilterRecord {
  std::string name{};                         ///< "edge-smooth": the command is satin edge-smooth
  std::string category{};                     ///< filters of one kind are listed together
  std::string help{};                         ///< one line
  std::string paper{};                        ///< author, title, year; empty if there is none
  std::vector<ParameterRecord> parameters{};  ///< in the order of the help
  std::vector<InputRecord> inputs{};          ///< side inputs, after the picture
  OutputKind output = OutputKind::image;      ///< what it makes
  Space space = Space::linear;                ///< what it computes in by default
  Traits traits{};                            ///< what its results keep

  /// A new parameter struct with its defaults.
  std::function<std::shared_ptr<void>()> defaults{};
  /// How far from a pixel its result looks, in pixels, for a picture of this shape.
  std::function<double(const void* parameters, const Shape& shape)> reach{};
  /// `shapes` are the picture's and those of the side inputs in order; width 0 for one that is not used.
  std::function<Plan(const Device&, std::span<const Shape> shapes, const void* parameters)> plan{};
  /// What `plan` is made of, before any memory is taken: for RowPipeline. Null for filters that make JSON.
  std::function<std::shared_ptr<const FilterPlan>(const Device&, std::span<const Shape> shapes,
                                                  const void* parameters)>
      describe{};
  /// set_by_photo() and photo_blur() for the filter's parameters; null for filters that take no depth.
  std::function<void(void* parameters, const Photo& photo)> set_by_photo{};
  /// See set_by_photo.
  std::function<PhotoBlur(const void* parameters, const Photo& photo, const Shape& picture)> photo_blur{};
  /// In place of `plan` for a filter that makes JSON: the members of one object, without braces. `pictures`
  /// are the picture and the side inputs as in `plan`, interleaved, in host memory. Throws as the operations
  /// that it calls.
  std::function<std::string(const Device&, std::span<const NamedView> pictures, const void* parameters)>
      analyse{};

  /// Null if there is none of that name.
  [[nodiscard]] const ParameterRecord* find_parameter(std::string_view parameter) const noexcept;
  /// The first that means this; null if there is none.
  [[nodiscard]] const ParameterRecord* find_parameter(ParameterRole role) const noexcept;
};

/// Every filter, in the order of the list.
[[nodiscard]] std::span<const FilterRecord> filters();

/// All of them as JSON: {"filters": [{"name": ..., "parameters": [...], "inputs": [...]}, ...]}.
[[nodiscard]] std::string describe_filters();

/// Throws Error(usage) with the nearest real name.
[[nodiscard]] const FilterRecord& find_filter(std::string_view name);

/// A sentence that names Satin's way to do what `word` means in other programs, in any spelling of capitals,
/// dashes and underscores; empty for an unknown word.
[[nodiscard]] std::string advice_for(std::string_view word);

/// Parameters of one filter, set by name and text.
class Parameters {
 public:
  /// The defaults. The record is one of filters(), and outlives them.
  explicit Parameters(const FilterRecord& filter) : filter_(&filter), values_(filter.defaults()) {}

  /// Throws Error(usage) for an unknown name (with the nearest real one), a value that is not valid, and one
  /// of two parameters that stand for each other if the other one was set.
  void set(std::string_view name, std::string_view text);
  /// The text that set() takes, empty if it is not set. Throws Error(usage) for an unknown name.
  [[nodiscard]] std::string get(std::string_view name) const;
  /// The text of the parameter that means this; empty if the filter has none.
  [[nodiscard]] std::string get(ParameterRole role) const;
  /// These parameters for one photograph: set_by_photo().
  [[nodiscard]] Parameters for_photo(const Photo& photo) const;
  /// Whose parameters they are.
  [[nodiscard]] const FilterRecord& filter() const noexcept { return *filter_; }
  /// The filter's own parameter struct.
  [[nodiscard]] const void* data() const noexcept { return values_.get(); }

 private:
  const FilterRecord* filter_;
  std::shared_ptr<void> values_;
  std::vector<std::string> set_;
};

/// Plans the filter. Throws Error(usage) for combinations and shapes that do not fit.
[[nodiscard]] Plan plan(const Device& device, const Parameters& parameters, std::span<const Shape> shapes);

}  // namespace satin
