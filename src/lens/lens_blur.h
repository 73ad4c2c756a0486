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

/// Memory of a LensScene.
class LensMemory {
 public:
  LensMemory(Backend& backend, const LensLayersJob& job) {
    const auto pixels = static_cast<std::size_t>(job.width * job.height);
    LensPlanes& planes = scene_.planes;
    LensList& list = scene_.list;
    planes.width = static_cast<int>(job.width);
    planes.height = static_cast<int>(job.height);
    planes.channels = job.channels;
    list.capacity = job.list_capacity();
    place(backend, scene_.work, 1);
    place(backend, scene_.unit, 1);
    place(backend, list.count, 2);
    list.attempted = list.count + 1;
    place(backend, planes.radii, pixels);
    place(backend, planes.sharpened, pixels);
    place(backend, planes.edges, pixels);
    place(backend, planes.colours, pixels * static_cast<std::size_t>(job.channels));
    place(backend, planes.magnitudes, pixels);
    place(backend, planes.weights, pixels);
    place(backend, planes.groups, pixels);
    place(backend, list.samples, list.capacity);
  }

  [[nodiscard]] const LensScene& scene() const noexcept { return scene_; }
  void set_soft(const std::uint32_t* soft) noexcept { scene_.soft = soft; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t sum = 0;
    for (const Buffer& buffer : buffers_) sum += buffer.size;
    return sum;
  }

 private:
  template <class T>
  void place(Backend& backend, T*& values, std::size_t count) {
    buffers_.push_back(backend.allocate(count * sizeof(T)));
    values = reinterpret_cast<T*>(buffers_.back().get());
  }

  std::vector<Buffer> buffers_;
  LensScene scene_;
};

/// Memory of the lamps of one picture and of the aperture that draws them.
class LampMemory {
 public:
  /// `picture` is the shape of the aperture's picture. If its width is 0, the table is the aperture.
  LampMemory(Backend& backend, const LensLayersJob& job, const ApertureTable& table, const Shape& picture);
  /// Computes the aperture from its picture, if it has one.
  void take(const ImageView& picture, Stream stream);

  /// Capacity of the list of lamps: a sixteenth of the number of pixels, and more for small pictures.
  [[nodiscard]] static std::uint32_t capacity(const LensLayersJob& job) {
    return static_cast<std::uint32_t>(job.width * job.height / 16 + 4096);
  }
  [[nodiscard]] LampCell* cells() const { return reinterpret_cast<LampCell*>(cells_.get()); }
  [[nodiscard]] const LampList& lamps() const noexcept { return lamps_; }
  [[nodiscard]] const Aperture& aperture() const noexcept { return aperture_; }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return cells_.size + list_.size + counts_.size + rows_.size + edges_.size;
  }

 private:
  std::unique_ptr<AperturePictureJob::Operation> take_picture_;
  Buffer cells_, list_, counts_, rows_, edges_;
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
  /// Takes single frames in the backend's memory, without waiting. Only floats need `measured`; `soft` is
  /// LensScene::soft.
  void run(const Inputs& inputs, const MutableImageView& output, Measured* measured, Stream stream,
           const std::uint32_t* soft = nullptr);

  /// Waits, and returns the number of groups of the last run.
  [[nodiscard]] int groups(Stream stream) const;

 private:
  [[nodiscard]] MutableImageView plane(void* data, Type type, int channels = 1) const;
  void spread(const Measured* measured, const MutableImageView& output, Stream stream);

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
};

/// Measures that run() needs. With a debug picture white is always in range.
[[nodiscard]] InputMeasures lens_measures(const LensBlurJob& job);

/// Parameter records of LensStyle.
[[nodiscard]] std::vector<ParameterRecord> lens_style_parameters();

}  // namespace satin
