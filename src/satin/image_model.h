#pragma once
// Models that estimate depth or a mask from a picture: ONNX files that the user names, run by ONNX Runtime,
// which is loaded when a model first needs it. These functions are in satin_io.
//
// The floats of a model may differ between machines and versions of the runtime. Everything that is computed
// from them afterwards has the same bytes everywhere.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "satin/image.h"
#include "satin/metadata.h"
#include "satin/photo_depth.h"

namespace [[gnu::visibility("default")]] satin {

/// Meaning of the number that a model gives for every pixel.
enum class Estimate : std::uint8_t {
  inverse_depth,  ///< large is near, in no unit
  depth,          ///< distance in metres
  mask            ///< how much of the pixel belongs to the subject, 0 to 1
};

/// The runtime of this machine.
struct ModelRuntime {
  std::string version;         ///< version, such as "1.20.1"; empty if it cannot be used
  std::filesystem::path file;  ///< the library
  std::string problem;         ///< why it cannot be used, with the remedy
};

/// Finds the runtime, and loads it. Never throws for a missing one.
[[nodiscard]] ModelRuntime model_runtime();

/// How a model is run.
struct EstimateOptions {
  std::uint64_t memory = 0;  ///< bytes that the runtime may hold, with the model's weights; 0: no limit
  std::function<bool()> cancelled{};  ///< polled meanwhile from another thread; true ends the run
};

/// An open model. Several threads may use it at once; their runs wait for each other.
class ImageModel {
 public:
  /// Opens a file, or returns the model that was opened last if that is the same, unchanged file. The runtime
  /// gets that many threads; 0: all that the process may use. It is the library in SATIN_ONNXRUNTIME, or in
  /// the folder of that name where pip installed it, or else in the usual places. The model's description is
  /// the file MODEL.json beside MODEL.onnx; without one, ImageNet's mean and deviation and inverse depth are
  /// assumed. Throws Error(input) for files that are no models, Error(usage) for models that do not fit and
  /// for wrong descriptions, Error(environment) without the runtime.
  [[nodiscard]] static std::shared_ptr<const ImageModel> open(const std::filesystem::path& file,
                                                              int threads = 0);

  ImageModel(const ImageModel&) = delete;
  ImageModel& operator=(const ImageModel&) = delete;
  virtual ~ImageModel() = default;

  /// Returns what the model estimates.
  [[nodiscard]] virtual Estimate estimates() const noexcept = 0;
  /// Returns the file it was opened from.
  [[nodiscard]] virtual const std::filesystem::path& file() const noexcept = 0;
  /// Returns the name of its description, whether or not there is one.
  [[nodiscard]] virtual std::filesystem::path description_file() const = 0;
  /// Returns what was assumed for want of a description; empty if there is one.
  [[nodiscard]] virtual std::string notice() const = 0;
  /// Returns the bytes that it holds between runs.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;

  /// Estimates the depth of an upright picture in host memory. Its colours become sRGB by their profile, and
  /// its size that of the model's input. The depth has the size of the model's output, or the nearest one
  /// with the picture's aspect, and no stored form. Throws Error(usage) for a model of masks, Error(input) if
  /// the model fails, Error(environment) beyond the limit of memory, Error(cancelled).
  [[nodiscard]] virtual PhotoDepth depth(const ImageView& picture, const Metadata& metadata = {},
                                         const EstimateOptions& options = {}) const = 0;
  /// Estimates a mask of u8 in the picture's size, enlarged along its edges. Throws as depth(), and
  /// Error(usage) for a model of depth.
  [[nodiscard]] virtual Image mask(const ImageView& picture, const Metadata& metadata = {},
                                   const EstimateOptions& options = {}) const = 0;

 protected:
  ImageModel() = default;
};

/// Returns the file that the environment variable SATIN_DEPTH_MODEL names; empty without one.
[[nodiscard]] std::filesystem::path usual_depth_model();

}  // namespace satin
