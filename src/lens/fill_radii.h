#pragma once
// Unknown radii from the known ones around them, in place, by way of tables of what is known.

#include <cstdint>

#include "lens/maths/fill_radii.h"
#include "pixels/pixelwise.h"
#include "tables/plane_table.h"

namespace satin {

/// How many are unknown: for backends that know it at once. The others have no such operation.
struct CountUnknownJob {
  using Operation = PixelwiseOperation<CountUnknownJob>;

  std::int64_t width = 0;
  std::int64_t height = 0;

  struct Images {
    ImageView radii;
    std::uint32_t* unknown = nullptr;  ///< is added to
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(std::int64_t{1}, height,
           CountUnknown{Rows<const SignedRadius256>(images.radii), width, images.unknown});
  }
};

/// The planes of the tables: 1 where the radius is known, and radius + largest there; 0 elsewhere.
struct SplitRadiiJob {
  using Operation = PixelwiseOperation<SplitRadiiJob>;
  static constexpr const char* doing = "looking for unknown depth";

  std::int64_t width = 0;
  std::int64_t height = 0;
  SignedRadius256 largest = 0;  ///< magnitude of the known radii

  struct Images {
    ImageView radii;
    MutableImageView known;   ///< u8
    MutableImageView raised;  ///< u32
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(width, height,
           SplitRadii{largest, Rows<const SignedRadius256>(images.radii), Rows<std::uint8_t>(images.known),
                      Rows<std::uint32_t>(images.raised)});
  }
};

/// Counts the unknown radii in *state, and tells there if all are unknown, in which case all become 0; then
/// fills them by filled_radius().
struct FillUnknownJob {
  using Operation = PixelwiseOperation<FillUnknownJob>;
  static constexpr const char* doing = "filling unknown depth";

  std::int64_t width = 0;
  std::int64_t height = 0;

  struct Images {
    KnownRadii known;
    LensState* state = nullptr;
    MutableImageView radii;
  };

  template <class Launch>
  void each(const Images& images, const TransferView& /*transfer*/, const Launch& launch) const {
    launch(std::int64_t{1}, std::int64_t{1}, TellUnknown{images.known, images.state});
    launch(width, height, FillUnknown{images.known, Rows<SignedRadius256>(images.radii)});
  }
};

/// All of it.
class FillRadii {
 public:
  FillRadii(Backend& backend, std::int64_t width, std::int64_t height, SignedRadius256 largest)
      : largest_(largest),
        count_(backend.prepare(CountUnknownJob{width, height})),
        split_(backend.prepare(SplitRadiiJob{width, height, largest})),
        fill_(backend.prepare(FillUnknownJob{width, height})),
        counts_(backend, width, height, Type::u8, 1, Accumulator::u32),
        sums_(backend, width, height, Type::u32, 2 * static_cast<std::uint64_t>(largest), Accumulator::u64) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept {
    return counts_.workspace_bytes() + sums_.workspace_bytes();
  }

  /// `radii`: one channel, i32.
  void run(const MutableImageView& radii, LensState* state, Stream stream) {
    if (count_ != nullptr) {
      std::uint32_t unknown = 0;
      count_->run({radii, &unknown}, stream);
      if (unknown == 0) return;
    }
    split_->run({radii, counts_.plane(), sums_.plane()}, stream);
    counts_.run(stream);
    sums_.run(stream);
    fill_->run({{largest_, counts_.table<std::uint32_t>(), sums_.table<std::uint64_t>()}, state, radii},
               stream);
  }

 private:
  SignedRadius256 largest_;
  std::unique_ptr<CountUnknownJob::Operation> count_;  ///< null: the tables are always made
  std::unique_ptr<SplitRadiiJob::Operation> split_;
  std::unique_ptr<FillUnknownJob::Operation> fill_;
  PlaneTable counts_;
  PlaneTable sums_;
};

}  // namespace satin
