// Order statistics: small windows by exchanges, larger ones by histograms that slide, radii by a map
// by tables of counts. Compiled for every SIMD target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "order/cpu/rank.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "order/cpu/border_strip.h"
#include "order/cpu/network_medians-inl.h"
#include "order/cpu/rank_part-inl.h"
#include "order/cpu/tiled_ranks-inl.h"
#include "order/rank.h"
#include "pixels/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

template <class Key>
class Rank final : public RankOperation {
 public:
  Rank(CpuBackend& backend, const RankJob& job) : backend_(backend), job_(job), store_(rank_store(job)) {
    LargestReach reach = largest_reach(job.reach);
    if (job.border == Border::shrink)
      reach = {std::min(reach.x, job.width - 1), std::min(reach.y, job.height - 1)};
    const std::int64_t side = side_of_parts(std::max(reach.x, reach.y));
    const Rectangle inner{{reach.x, job.width - reach.x}, {reach.y, job.height - reach.y}};
    const bool is_median =
        reach.x == reach.y && (reach.x == 1 || reach.x == 2) && 2 * job.percent == percent_whole;
    if (!exchanges(reach, inner)) {
      add_parts({{0, job.width}, {0, job.height}}, side, side, Way::histograms);
    } else {
      network_reach_ = is_median ? reach.x : 0;
      add_parts(inner, job.width, TiledRanks<Key>::most_rows, Way::exchanges);
      add_borders(inner, side);
    }
    for (int i = 0; i < backend.threads.count(); ++i) {
      parts_.emplace_back(job, reach, side);
      if (work_.front().way != Way::exchanges) continue;
      if (network_reach_ != 0)
        strips_.emplace_back(job, network_reach_);
      else
        tiles_.emplace_back(job, reach);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const RankPart<Key>& part : parts_) bytes += part.bytes();
    for (const TiledRanks<Key>& tiles : tiles_) bytes += tiles.bytes();
    for (const BorderStrip<Key>& strip : strips_) bytes += strip.bytes();
    return bytes;
  }

  void run(const RankImages& images, Stream) override {
    const auto pieces = static_cast<std::int64_t>(work_.size());
    backend_.threads.for_rows(pieces, 1, [&](std::int64_t first, std::int64_t last, int index) {
      const auto slot = static_cast<std::size_t>(index);
      for (std::int64_t i = first; i < last; ++i) run(images, work_[static_cast<std::size_t>(i)], slot);
    });
  }

 private:
  enum class Way { histograms, exchanges, strip_of_rows, strip_of_columns };
  struct Work {
    Rectangle inner;
    Way way = Way::histograms;
  };

  /// Windows of up to so many pixels; larger ones are faster by histograms, if vectors have 32 bytes.
  static constexpr std::int64_t most_pixels = sizeof(Key) <= 2 ? 15 * 15 : 11 * 11;

  /// Whether small windows of one size, all of whose pixels count, lie inside the picture.
  [[nodiscard]] bool exchanges(const LargestReach& reach, const Rectangle& inner) const {
    static_assert(TiledRanks<Key>::least_width == NetworkMedians<Key, 1>::least_width);
    const std::int64_t pixels = (2 * reach.x + 1) * (2 * reach.y + 1);
    return !job_.reach.from_map && !job_.excludes && !job_.weighted && pixels <= most_pixels &&
           inner.x.size() >= TiledRanks<Key>::least_width && inner.y.size() > 0;
  }

  void add_parts(const Rectangle& whole, std::int64_t width, std::int64_t height, Way way) {
    for (std::int64_t y = whole.y.first; y < whole.y.last; y += height)
      for (std::int64_t x = whole.x.first; x < whole.x.last; x += width)
        work_.push_back(
            {{{x, std::min(x + width, whole.x.last)}, {y, std::min(y + height, whole.y.last)}}, way});
  }

  /// Lists the strips and corners that surround the inner part.
  void add_borders(const Rectangle& inner, std::int64_t side) {
    const Stretch left{0, inner.x.first};
    const Stretch right{inner.x.last, job_.width};
    for (const Stretch& rows : {Stretch{0, inner.y.first}, Stretch{inner.y.last, job_.height}}) {
      if (network_reach_ == 0) {
        add_parts({{0, job_.width}, rows}, side, side, Way::histograms);
        continue;
      }
      add_parts({left, rows}, side, side, Way::histograms);
      add_parts({right, rows}, side, side, Way::histograms);
      for (const Stretch& columns : pieces_of(inner.x))
        work_.push_back({{columns, rows}, Way::strip_of_rows});
    }
    const bool strips = network_reach_ != 0 && inner.y.size() >= NetworkMedians<Key, 1>::least_width;
    for (const Stretch& columns : {left, right}) {
      if (!strips)
        add_parts({columns, inner.y}, side, side, Way::histograms);
      else
        for (const Stretch& rows : pieces_of(inner.y))
          work_.push_back({{columns, rows}, Way::strip_of_columns});
    }
  }

  /// Cuts a border into the fewest pieces that strips can hold. Their lengths are nearly the same, so none is
  /// shorter than a vector.
  static std::vector<Stretch> pieces_of(const Stretch& whole) {
    constexpr std::int64_t most = BorderStrip<Key>::most_length;
    const std::int64_t count = (whole.size() + most - 1) / most;
    std::vector<Stretch> pieces;
    for (std::int64_t i = 0; i < count; ++i)
      pieces.push_back(
          {whole.first + whole.size() * i / count, whole.first + whole.size() * (i + 1) / count});
    return pieces;
  }

  /// Side of the parts. A part's region is read, sorted and counted whole, so parts grow with the reach.
  /// Parts of sorted keys are smaller, so that a window covers much of them; other parts are as large as
  /// leaves every thread some.
  [[nodiscard]] std::int64_t side_of_parts(std::int64_t reach) const {
    if (RankPart<Key>::groups(job_)) {
      if (reach <= 24) return !job_.reach.from_map ? 192 : reach <= 8 ? 64 : 96;
      if (reach <= 96) return reach <= 48 ? 160 : 192;
      return reach <= 150 ? 384 : 512;
    }
    const std::int64_t least = reach <= 64 ? 256 : reach <= 128 ? 512 : 1024;
    const std::int64_t parts = job_.width * job_.height / (2 * least * 2 * least);
    return parts >= 4 * backend_.threads.count() ? 2 * least : least;
  }

  /// Whether the ranks are stored as they are: nothing is blended or kept.
  [[nodiscard]] bool plainly() const {
    return !job_.weighted && job_.mask_maximum == 0 && !(job_.threshold > 0);
  }

  void run(const RankImages& images, const Work& work, std::size_t slot) {
    bool stored = false;
    if (work.way == Way::histograms) {
      parts_[slot].run(images, work.inner);
    } else if (work.way != Way::exchanges) {
      BorderStrip<Key>& strip = strips_[slot];
      strip.read(images.source, work.inner, work.way == Way::strip_of_columns);
      run_network(strip.images(), strip.inner());
      strip.store(images.output);
      stored = plainly();
    } else if (network_reach_ != 0) {
      run_network(images, work.inner);
      stored = plainly();
    } else {
      tiles_[slot].run(images, work.inner);
    }
    if (!stored) finish(images, work.inner);
  }

  void run_network(const RankImages& images, const Rectangle& inner) const {
    if (network_reach_ == 1)
      NetworkMedians<Key, 1>(job_.channels, plainly()).run(images, inner);
    else
      NetworkMedians<Key, 2>(job_.channels, plainly()).run(images, inner);
  }

  /// Turns keys of ranks into stored pixels.
  void finish(const RankImages& images, const Rectangle& inner) const {
    if (plainly() && !std::is_same_v<Key, FloatKey>) return;
    for (std::int64_t y = inner.y.first; y < inner.y.last; ++y) {
      Key* out = images.output.row<Key>(y) + inner.x.first * job_.channels;
      if (plainly()) {
        std::transform(out, out + inner.x.size() * job_.channels, out, [](Key key) { return turn_key(key); });
        continue;
      }
      const Key* original = images.source.row<Key>(y) + inner.x.first * job_.channels;
      for (std::int64_t x = 0; x < inner.x.size(); ++x)
        store_rank(store_, original + x * job_.channels, mask_at(images.mask, inner.x.first + x, y),
                   out + x * job_.channels);
    }
  }

  CpuBackend& backend_;
  RankJob job_;
  RankStore store_;
  std::vector<Work> work_;
  std::vector<RankPart<Key>> parts_;      ///< one a thread
  std::vector<TiledRanks<Key>> tiles_;    ///< likewise, for small windows that have no network
  std::vector<BorderStrip<Key>> strips_;  ///< likewise, for those that have one
  std::int64_t network_reach_ = 0;        ///< 1 or 2 for medians of 3 x 3 and 5 x 5, by networks
};

inline Prepared<RankJob> PrepareRank(Backend& backend, const RankJob& job) {
  return with_pixel_type(job.type, [&]<class T>() -> std::unique_ptr<RankOperation> {
    using Key = std::conditional_t<std::is_same_v<T, float>, FloatKey, T>;
    return std::make_unique<Rank<Key>>(as_cpu(backend), job);
  });
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareRank);

Prepared<RankJob> prepare_rank(Backend& backend, const RankJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareRank)(backend, job);
}

}  // namespace satin::cpu
#endif
