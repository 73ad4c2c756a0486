#pragma once
// The adapter of all plug-ins for other programs, built on public headers alone: the parameters of a filter
// as a host shows them, the device of the process, and a filter that runs on a host's pixels.
//
// Hosts are written in C, so no exception may reach them. Runner returns a sentence in place of throwing, and
// sentence_of() does so for any other work. Functions that throw say so.

#include <cstddef>
#include <exception>
#include <map>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "satin/error.h"
#include "satin/filter.h"

namespace satin::host {

/// Runs `work`. Returns an empty text, or the message of the error that it threw.
template <class Work>
[[nodiscard]] std::string sentence_of(const Work& work) {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return "There is not enough memory.";
  } catch (const std::exception& error) {
    return error.what();
  }
}

// --- Filters and their parameters ---

/// Whether a host can offer the filter as an operation from pictures to a picture.
[[nodiscard]] bool makes_picture(const FilterRecord& filter);
/// Whether that picture has the size of the filtered one, as hosts of video and layers need it. It may have
/// one channel (FilterRecord::shape).
[[nodiscard]] bool keeps_size(const FilterRecord& filter);

/// The control that sets a parameter.
enum class Control {
  number,  ///< a real number
  whole,   ///< a whole number
  flag,    ///< 1 or 0
  choice,  ///< an index into Parameter::choices
  text     ///< a text in the parameter's own syntax
};

/// A parameter as a host shows it. Every control but a text has a number.
struct Parameter {
  const ParameterRecord* record = nullptr;  ///< name, help, unit, usual range and scale
  Control control = Control::text;          ///< how it is set
  double minimum = 0;  ///< smallest number that a host may pass; includes the number that means "not set"
  double maximum = 0;  ///< largest number that a host may pass
  double initial = 0;  ///< number that a host shows first: the default, or the one for "not set"
  std::vector<std::string> choices{};  ///< names of a choice; the first is "auto" if it may be unset
};

/// Returns the parameter of this record as a host shows it.
[[nodiscard]] Parameter parameter_of(const ParameterRecord& record);
/// Returns the parameters of a filter that have a meaning for pixels in memory: not those that say where a
/// file holds depth.
[[nodiscard]] std::vector<Parameter> parameters_of(const FilterRecord& filter);

/// Returns the text for Runner::set() of a number of this parameter's control; empty if it means "not set",
/// as NaN does. Whole and odd numbers are rounded to the nearest valid one. Numbers out of range are not
/// clamped, so that Satin refuses them by name.
[[nodiscard]] std::string text_of(const Parameter& parameter, double number);
/// Returns the number of a text: the inverse of text_of(). An empty text gives the number of the default. NaN
/// for a text that has no number, such as "8x2" or "1.5%".
[[nodiscard]] double number_of(const Parameter& parameter, std::string_view text);

/// Returns the help with range, unit and default: "standard deviation ...; 0 to 4096 px, usually 0 to 100;
/// not set by default".
[[nodiscard]] std::string explanation_of(const Parameter& parameter);

// --- Pixels ---

/// Returns a view of interleaved pixels whose rows are `row_stride` bytes apart. `Byte` is std::byte or const
/// std::byte.
template <class Byte>
[[nodiscard]] BasicImageView<Byte> rows_of(Byte* data, const Shape& shape, std::ptrdiff_t row_stride) {
  BasicImageView<Byte> view{data, shape, interleaved_strides(shape), Memory::host};
  view.strides.row = row_stride;
  view.strides.frame = row_stride * shape.height;
  return view;
}

/// Returns a view of `count` channels from channel `first` on, such as the colours or the alpha of RGBA
/// pixels. The other channels are padding: they are neither read nor written.
template <class Byte>
[[nodiscard]] BasicImageView<Byte> channels_of(BasicImageView<Byte> pixels, int first, int count,
                                               Alpha alpha = Alpha::none) {
  pixels.data += first * pixels.strides.channel;
  pixels.shape.channels = count;
  pixels.shape.alpha = alpha;
  return pixels;
}

// --- Running ---

/// Returns the device that all plug-ins of this process share. The first call opens it: SATIN_DEVICE names it
/// as the command's --device does (auto, cpu, cuda:N; unset: auto), SATIN_THREADS limits the threads of the
/// CPU, and where it is unset `threads` does (DeviceOptions::threads). Throws Error as Device::open(), and
/// then again at the next call.
[[nodiscard]] const Device& device(int threads = 0);

/// A filter with the settings of a host. The plan is kept between runs: it is made again if the shapes or a
/// setting changed, and only varied where Plan::vary() allows that, so hosts may send every setting before
/// every frame. Only one thread at a time may use a Runner; several Runners may run at once on one device.
class Runner {
 public:
  /// Starts with the defaults. `device` is the one to run on; by default device(), opened when it is needed.
  explicit Runner(const FilterRecord& filter, std::optional<Device> device = {})
      : filter_(&filter), device_(std::move(device)) {}

  /// Sets a parameter by its text; an empty one unsets it. The default counts as unset, so it excludes no
  /// other parameter. Returns a sentence and changes nothing if the name or the text is invalid.
  [[nodiscard]] std::string set(std::string_view name, std::string_view text);

  /// The filter that runs.
  [[nodiscard]] const FilterRecord& filter() const noexcept { return *filter_; }
  /// Returns the settings. Throws Error(usage) if two of them exclude each other.
  [[nodiscard]] Parameters parameters() const;

  /// Returns the outline of a plan for the current settings. `shapes` are those of run(). Throws as
  /// satin::outline() and device().
  [[nodiscard]] PlanOutline outline(std::span<const Shape> shapes) const;
  /// Returns how far chunks must overlap so that they give the bytes of the whole picture of these shapes.
  /// None where the picture cannot be cut: see Plan::local_reach(), and a length in percent would be of the
  /// chunk. Throws as outline().
  [[nodiscard]] std::optional<LocalReach> reach_of_chunks(std::span<const Shape> shapes) const;

  /// Calls `progress` during the following runs, as Plan::watch(). If it returns false, run() returns a
  /// sentence.
  void watch(Progress progress);

  /// Filters `inputs` (the picture, then the side inputs in the order of the record; those that are left out
  /// at the end, or have an empty view, are not used) into `output`. Returns a sentence if that fails; the
  /// output is then unspecified.
  [[nodiscard]] std::string run(std::span<const ImageView> inputs, const MutableImageView& output);

  /// Number of plans made so far.
  [[nodiscard]] int plans_made() const noexcept { return plans_made_; }

 private:
  [[nodiscard]] const Device& device_in_use() const { return device_ ? *device_ : host::device(); }
  [[nodiscard]] std::vector<Shape> completed(std::span<const Shape> shapes) const;
  /// Makes plan_ fit the settings and shapes.
  void prepare(const std::vector<Shape>& shapes);

  const FilterRecord* filter_;
  std::optional<Device> device_;
  std::map<std::string, std::string> settings_;  ///< those that were sent; empty: unset
  Progress progress_;
  std::optional<Plan> plan_;
  bool changed_ = false;  ///< whether a setting is not that of plan_
  std::optional<Parameters> planned_;
  std::vector<Shape> planned_shapes_;
  int plans_made_ = 0;
};

}  // namespace satin::host
