#pragma once
// The record that describes a filter. Options, help, the pipeline grammar and the Python package are
// generated from the records.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "satin/framing.h"
#include "satin/param.h"
#include "satin/photo_depth.h"
#include "satin/plan.h"

namespace satin {
struct FilterPlan;
}

namespace [[gnu::visibility("default")]] satin {

/// Meaning of a side input.
enum class Role {
  radius_map,  ///< a radius for every pixel
  mask,        ///< how strongly the filter acts on every pixel
  depth,       ///< distance or its inverse
  guide,       ///< a picture whose edges the filter follows
  aperture,    ///< the opening of a lens, of any size
  subject      ///< a mask of the subject, whose edge depth follows
};

/// A side input: a picture beside the one that is filtered.
struct InputRecord {
  std::string name;        ///< "radius-map": the option is --radius-map FILE
  Role role = Role::mask;  ///< meaning of the input
  std::string help;        ///< one line
  bool required = false;   ///< whether the filter needs it
  /// Returns its view from the filter's parameter struct, for calls of the filter's own function.
  std::function<const ImageView&(const void* parameters)> view{};
  std::string group = "more";  ///< section of a form, before parameters of rank 0
};

/// Kind of a filter's result.
enum class OutputKind {
  image,  ///< a picture like the input
  table,  ///< numbers, written to .npy or .tiff
  json    ///< text that describes the picture
};

/// Returns "image", "table" or "json".
[[nodiscard]] const char* name_of(OutputKind kind) noexcept;

/// How the shape of a filter's result follows from the picture's, whatever the parameters. outline() returns
/// the shape for certain parameters.
enum class OutputShape {
  same,  ///< the picture's
  grey,  ///< the picture's size, with one channel of 8 bits
  other  ///< another size, another type, or no picture
};

/// Returns "same", "grey" or "other".
[[nodiscard]] const char* name_of(OutputShape shape) noexcept;

/// A picture with a name. The setting "blur mask=soft" uses the view "soft", and JSON output repeats the
/// name.
struct NamedView {
  std::string name;  ///< name that a setting uses; may be empty for JSON
  ImageView view;    ///< the picture
};

/// Properties of a filter that hold for all parameters except a constant border. The property tests check
/// them.
struct Traits {
  bool keeps_constant = false;  ///< a constant picture keeps its bytes
  bool keeps_range = false;     ///< results stay within the range of the input
  bool linear = false;          ///< results are linear in the stored values, up to rounding
  bool masks_alone = false;     ///< the input is a mask, so run lengths may replace the picture
  bool covers = false;          ///< the filter hides parts of the picture, which must not remain in metadata
};

class Parameters;

/// The record of a filter. Parameters are passed as a pointer to the filter's own parameter struct.
struct FilterRecord {
  std::string name{};                         ///< "edge-smooth": the command is satin edge-smooth
  std::string category{};                     ///< heading in the list of filters
  std::string help{};                         ///< one line
  std::string paper{};                        ///< author, title, year; empty if there is none
  std::vector<ParameterRecord> parameters{};  ///< parameters in the order of the help
  std::vector<InputRecord> inputs{};          ///< side inputs in the order of plans
  OutputKind output = OutputKind::image;      ///< kind of result
  OutputShape shape = OutputShape::same;      ///< shape of the result
  Space space = Space::linear;                ///< default space of the computation
  Traits traits{};                            ///< properties of the results

  /// Returns a new parameter struct with the defaults.
  std::function<std::shared_ptr<void>()> defaults{};
  /// Returns what the result shows of a picture of this size. Throws Error(usage) as `plan`. Null for filters
  /// that keep the size.
  std::function<Framing(const void* parameters, std::int64_t width, std::int64_t height)> frame{};
  /// Adapts the parameters to a picture that was decoded at a part of its size, so that the result has the
  /// size that it has for the whole picture of `width` x `height`. Returns false if they need the whole
  /// picture. Null for filters that read every pixel.
  std::function<bool(void* parameters, std::int64_t width, std::int64_t height)> fit_reduced{};
  /// Returns how far from a pixel the filter reads, in pixels, for a picture of this shape.
  std::function<double(const void* parameters, const Shape& shape)> reach{};
  /// Makes a plan. `shapes` are those of the picture and of the side inputs in order; width 0 for an unused
  /// input.
  std::function<Plan(const Device&, std::span<const Shape> shapes, const void* parameters)> plan{};
  /// Returns the description that `plan` prepares, before any memory is allocated, for RowPipeline. Null for
  /// filters that make JSON.
  std::function<std::shared_ptr<const FilterPlan>(const Device&, std::span<const Shape> shapes,
                                                  const void* parameters)>
      describe{};
  /// Calls set_by_photo() for the filter's parameters. Null for filters without depth.
  std::function<void(void* parameters, const Photo& photo)> set_by_photo{};
  /// Calls photo_blur() for the filter's parameters. Null for filters without depth.
  std::function<PhotoBlur(const void* parameters, const Photo& photo, const Shape& picture)> photo_blur{};
  /// Replaces `plan` for a filter that makes JSON: returns the members of one object, without braces.
  /// `pictures` are the picture and the side inputs as in `plan`, interleaved, in host memory. Throws as the
  /// operations that it calls.
  std::function<std::string(const Device&, std::span<const NamedView> pictures, const void* parameters)>
      analyse{};

  /// Returns the parameter of this name, or null.
  [[nodiscard]] const ParameterRecord* find_parameter(std::string_view parameter) const noexcept;
  /// Returns the first parameter with this role, or null.
  [[nodiscard]] const ParameterRecord* find_parameter(ParameterRole role) const noexcept;
};

/// Returns all filters in the order of the list.
[[nodiscard]] std::span<const FilterRecord> filters();

/// Returns the record of `satin convert`: a step that keeps every value. It is none of filters().
[[nodiscard]] const FilterRecord& convert_record();

/// Returns all filters as JSON: {"filters": [{"name": ..., "parameters": [...], "inputs": [...]}, ...]}.
/// "group" and "rank" say where a parameter stands in a form.
[[nodiscard]] std::string describe_filters();

/// Returns the filter of this name. Throws Error(usage) with the nearest existing name.
[[nodiscard]] const FilterRecord& find_filter(std::string_view name);

/// Returns a sentence that names Satin's equivalent of a command of other programs, whatever the capitals,
/// dashes and underscores; empty for an unknown word.
[[nodiscard]] std::string advice_for(std::string_view word);

/// Parameters of one filter, set by name and text.
class Parameters {
 public:
  /// Starts with the defaults. The record must be one of filters(), or convert_record().
  explicit Parameters(const FilterRecord& filter) : filter_(&filter), values_(filter.defaults()) {}

  /// Sets a parameter. An empty text unsets it: the parameter has its default again, which for some is no
  /// value (ParameterRecord::may_be_unset()). So callers may send every parameter and leave those empty that
  /// nobody set. Throws Error(usage) for an unknown name (with the nearest existing one), an invalid value,
  /// and the second of two parameters that exclude each other (ParameterRecord::instead_of), with both names.
  /// One that is unset excludes none.
  void set(std::string_view name, std::string_view text);
  /// Returns the value as text that set() accepts, empty if it is not set. Throws Error(usage) for an unknown
  /// name.
  [[nodiscard]] std::string get(std::string_view name) const;
  /// Returns the text of the parameter with this role; empty if the filter has none.
  [[nodiscard]] std::string get(ParameterRole role) const;
  /// Returns these parameters after set_by_photo() for one photograph.
  [[nodiscard]] Parameters for_photo(const Photo& photo) const;
  /// Returns these parameters after FilterRecord::fit_reduced; nothing where the whole picture is needed.
  [[nodiscard]] std::optional<Parameters> for_reduced(std::int64_t width, std::int64_t height) const;
  /// Whether these and the other parameters of the filter differ at most in those that may vary
  /// (ParameterRecord::varies), so that Plan::vary() may lead from one to the other.
  [[nodiscard]] bool varied_from(const Parameters& other) const;
  /// The filter that the parameters belong to.
  [[nodiscard]] const FilterRecord& filter() const noexcept { return *filter_; }
  /// The filter's own parameter struct.
  [[nodiscard]] const void* data() const noexcept { return values_.get(); }

 private:
  [[nodiscard]] Parameters copy() const;

  const FilterRecord* filter_;
  std::shared_ptr<void> values_;
  std::vector<std::string> set_;
};

/// Plans the filter. Throws Error(usage) for combinations and shapes that do not fit.
[[nodiscard]] Plan plan(const Device& device, const Parameters& parameters, std::span<const Shape> shapes);

/// Properties of a plan that are known before it is made and before any memory is allocated.
struct PlanOutline {
  Shape output;  ///< shape of the output
  std::optional<LocalReach>
      reach;  ///< Plan::local_reach(), for lengths in percent as the picture's size sets it
};

/// Returns the outline of the plan for these parameters and shapes. Throws as plan(), and Error(usage) for a
/// filter that makes JSON.
[[nodiscard]] PlanOutline outline(const Device& device, const Parameters& parameters,
                                  std::span<const Shape> shapes);

}  // namespace satin
