#pragma once
// A filter at one place of a host's project: keeps the host's values of the controls and filters frames.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hosts/frei0r/plugin.h"
#include "hosts/host.h"
#include "satin/tone_curves.h"

namespace satin::frei0r {

/// Calls from several threads wait for each other.
class Instance {
 public:
  /// Filters frames of this size, whose rows follow each other without padding.
  Instance(const Plugin& plugin, unsigned width, unsigned height);

  /// Sets a control to the text or the number at `value`.
  void set(std::size_t control, const void* value);
  /// Copies the address of a control's text, or its number, to `value`.
  void get(std::size_t control, void* value);
  /// Filters a frame. `second` is the second clip of a mixer, otherwise null. If settings or pixels are
  /// refused, the output is `first`, and a sentence on stderr says why, once until a control changes.
  void run(const std::uint32_t* first, const std::uint32_t* second, std::uint32_t* output);

 private:
  /// Gives the controls' values to the runner. Throws Error(usage) for an invalid one.
  void apply();
  void filter(std::span<const std::uint32_t> first, const std::uint32_t* second, std::uint32_t* output);
  /// Runs the filter on the linear light of BT.709.
  void run_in_bt709(std::vector<ImageView> inputs, const ImageView& frame, std::uint32_t* output);
  void run_plan(std::span<const ImageView> inputs, const MutableImageView& output);

  const Plugin& plugin_;
  Shape frame_;  ///< RGBA, 8 bits
  std::mutex mutex_;
  std::vector<std::string> texts_;  ///< values of text controls, by index
  std::vector<double> numbers_;     ///< values of the others, by index
  bool has_changed_ = true;         ///< a control changed since apply()
  bool is_refused_ = false;         ///< apply() threw
  bool has_spoken_ = false;         ///< the refusal was printed
  host::Runner runner_;
  std::map<std::string, std::string> own_;  ///< texts of the plug-in's own controls
  std::optional<ToneCurves> bt709_;
};

}  // namespace satin::frei0r
