#pragma once
// Depth of field of a picture whose signed radii are known: the part that `dof` and `tilt-shift` share.
//
// LensBlur prepares the operations and their memory, and runs them: samples (layers.h), lamps (lamps.h),
// splat (splat.h), and storing where the splat cannot store the picture's bytes itself.

#include <cstddef>
#include <memory>
#include <vector>

#include "core/backend.h"
#include "core/prepared_filter.h"
#include "core/workspace.h"
#include "lens/grain.h"
#include "lens/lamps.h"
#include "lens/layers.h"
#include "lens/splat.h"
#include "satin/filter.h"
#include "satin/lens_style.h"
#include "satin/plan.h"

namespace satin {

struct LensBlurJob {
  Shape picture;
  Shape mask;             ///< width 0 without a mask
  Shape aperture;         ///< width 0 without a picture as aperture
  double max_radius = 0;  ///< pixels
  LensStyle style;
  Space space = Space::linear;
  bool keeps_last = false;  ///< the last channel is data: no opacity, and it keeps its bytes
};

/// Arrays in a backend's memory.
class BackendArrays {
 public:
  explicit BackendArrays(Backend& backend) : backend_(backend) {}

  template <class T>
  T* add(std::size_t count) {
    buffers_.push_back(backend_.allocate(count * sizeof(T)));
    return reinterpret_cast<T*>(buffers_.back().get());
  }
  template <class T>
  T* add_copy(const WorkspaceVector<T>& values) {
    T* copy = add<T>(values.size());
    backend_.upload(copy, values.data(), values.size() * sizeof(T), {});
    return copy;
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Buffer& buffer : buffers_) sum += buffer.size;
    return sum;
  }

 private:
  Backend& backend_;
  std::vector<Buffer> buffers_;
};

/// Memory of a LensScene.
class LensMemory {
 public:
  LensMemory(Backend& backend, const LensLayersJob& job);

  [[nodiscard]] const LensScene& scene() const noexcept { return scene_; }
  void set_soft(const std::uint32_t* soft) noexcept { scene_.soft = soft; }
  [[nodiscard]] std::size_t bytes() const noexcept { return arrays_.bytes(); }

 private:
  BackendArrays arrays_;
  LensScene scene_;
};

/// Memory of the lamps of one picture and of the aperture that draws them.
class LampMemory {
 public:
  /// `picture` is the shape of the aperture's picture. If its width is 0, the table is the aperture.
  LampMemory(Backend& backend, const LensLayersJob& job, const ApertureTable& table, const Shape& picture);
  [[nodiscard]] bool has_picture() const noexcept { return read_picture_ != nullptr; }
  /// Computes the aperture from its picture. Waits, and returns the opening.
  [[nodiscard]] Opening find_aperture(Backend& backend, const ImageView& picture, Stream stream);

  /// Capacity of the list of lamps: a sixteenth of the number of pixels, and more for small pictures.
  [[nodiscard]] static std::uint32_t capacity(const LensLayersJob& job) {
    return static_cast<std::uint32_t>(job.width * job.height / 16 + 4096);
  }
  [[nodiscard]] LampCell* cells() const noexcept { return cells_; }
  [[nodiscard]] LampSurface* surfaces() const noexcept { return surfaces_; }
  [[nodiscard]] const LampList& lamps() const noexcept { return lamps_; }
  [[nodiscard]] const Aperture& aperture() const noexcept { return aperture_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return arrays_.bytes(); }

 private:
  BackendArrays arrays_;
  std::unique_ptr<AperturePictureJob::Operation> read_picture_;  ///< null without a picture
  LampCell* cells_ = nullptr;
  LampSurface* surfaces_ = nullptr;
  ApertureCells* picture_cells_ = nullptr;  ///< null without a picture
  ApertureRow* rows_ = nullptr;
  ApertureEdge* edges_ = nullptr;
  LampList lamps_;
  Aperture aperture_;
};

class LensBlur {
 public:
  /// Allocates. Throws Error(usage) for shapes and parameters that are not valid.
  LensBlur(Backend& backend, const LensBlurJob& job);

  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

  /// Plane of radii to fill in before each run(): i32, 1/256 pixel, positive near, at most max_radius.
  [[nodiscard]] MutableImageView radii() const;
  /// A plane of the same kind that is free before run().
  [[nodiscard]] MutableImageView spare() const;

  struct Inputs {
    ImageView picture;
    ImageView aperture;  ///< as the mask, empty if the job has none
    ImageView mask;
  };
  /// Filters single frames in the backend's memory. Waits only if there is a picture of an aperture. Only
  /// floats need `measured`; `soft` is LensScene::soft.
  void run(const Inputs& inputs, const MutableImageView& output, Measured* measured, Stream stream,
           const std::uint32_t* soft = nullptr);

  /// Waits, and returns the number of groups of the last run.
  [[nodiscard]] int groups(Stream stream) const;

 private:
  [[nodiscard]] MutableImageView plane(void* data, Type type, int channels = 1) const;

  Backend& backend_;
  Shape shape_;
  Memory memory_;
  LensMemory lens_;
  std::unique_ptr<LampMemory> lamp_memory_;  ///< null if `splat_` is
  std::unique_ptr<LampsJob::Operation> find_lamps_;
  std::unique_ptr<LensLayersOperation> layers_;
  std::unique_ptr<SplatOperation> splat_;  ///< null if a debug picture is made instead
  LensShow shown_;
  Buffer result_;                                   ///< empty if `store_` is null
  std::unique_ptr<LensStoreJob::Operation> store_;  ///< null if the splat stores the bytes
  Buffer grain_state_;                              ///< empty without grain
  std::unique_ptr<GrainJob::Operation> grain_;      ///< null without grain
};

/// Measures that run() needs. With a debug picture white is always in range.
[[nodiscard]] InputMeasures lens_measures(const LensBlurJob& job);

[[nodiscard]] std::vector<ParameterRecord> lens_style_parameters();

}  // namespace satin
