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
    if (exchanges(reach, inner)) {
      constexpr std::int64_t rows = TiledRanks<Key>::most_rows;
      add_parts(inner, job.width, rows, true);
      add_parts({{0, job.width}, {0, reach.y}}, side, side, false);
      add_parts({{0, job.width}, {inner.y.last, job.height}}, side, side, false);
      add_parts({{0, reach.x}, inner.y}, side, side, false);
      add_parts({{inner.x.last, job.width}, inner.y}, side, side, false);
    } else {
      add_parts({{0, job.width}, {0, job.height}}, side, side, false);
    }
    const bool is_median =
        reach.x == reach.y && (reach.x == 1 || reach.x == 2) && 2 * job.percent == percent_whole;
    network_reach_ = is_median ? reach.x : 0;
    for (int i = 0; i < backend.threads.count(); ++i) {
      parts_.emplace_back(job, reach, side);
      if (work_.front().exchanges && !is_median) tiles_.emplace_back(job, reach);
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = 0;
    for (const RankPart<Key>& part : parts_) bytes += part.bytes();
    for (const TiledRanks<Key>& tiles : tiles_) bytes += tiles.bytes();
    return bytes;
  }

  void run(const RankImages& images, Stream) override {
    const auto pieces = static_cast<std::int64_t>(work_.size());
    backend_.threads.for_rows(pieces, 1, [&](std::int64_t first, std::int64_t last, int index) {
      const auto slot = static_cast<std::size_t>(index);
      for (std::int64_t i = first; i < last; ++i) {
        const Work& work = work_[static_cast<std::size_t>(i)];
        if (work.exchanges && network_reach_ != 0) {
          run_network(images, work.inner);
          continue;
        }
        if (work.exchanges)
          tiles_[slot].run(images, work.inner);
        else
          parts_[slot].run(images, work.inner);
        finish(images, work.inner);
      }
    });
  }

 private:
  struct Work {
    Rectangle inner;
    bool exchanges = false;  ///< false: histograms are made
  };

  /// Windows of up to so many pixels; larger ones are faster by histograms, if vectors have 32 bytes.
  static constexpr std::int64_t most_pixels = sizeof(Key) == 1   ? 15 * 15
                                              : sizeof(Key) == 2 ? 17 * 17
                                                                 : 11 * 11;

  /// Whether small windows of one size, all of whose pixels count, lie inside the picture.
  [[nodiscard]] bool exchanges(const LargestReach& reach, const Rectangle& inner) const {
    static_assert(TiledRanks<Key>::least_width == NetworkMedians<Key, 1>::least_width);
    const std::int64_t pixels = (2 * reach.x + 1) * (2 * reach.y + 1);
    return !job_.reach.from_map && !job_.excludes && !job_.weighted && pixels <= most_pixels &&
           inner.x.size() >= TiledRanks<Key>::least_width && inner.y.size() > 0;
  }

  void add_parts(const Rectangle& whole, std::int64_t width, std::int64_t height, bool exchanges) {
    for (std::int64_t y = whole.y.first; y < whole.y.last; y += height)
      for (std::int64_t x = whole.x.first; x < whole.x.last; x += width)
        work_.push_back(
            {{{x, std::min(x + width, whole.x.last)}, {y, std::min(y + height, whole.y.last)}}, exchanges});
  }

  /// A part's region is read, sorted and counted whole, so parts grow with the reach. Those of sorted keys
  /// are smaller, so that groups are short.
  [[nodiscard]] std::int64_t side_of_parts(std::int64_t reach) const {
    if (RankPart<Key>::groups(job_)) return reach <= 8 ? 64 : reach <= 64 ? 128 : 256;
    return reach <= 64 ? 256 : reach <= 128 ? 512 : 1024;
  }

  /// Whether the ranks are stored as they are: nothing is blended or kept.
  [[nodiscard]] bool plainly() const {
    return !job_.weighted && job_.mask_maximum == 0 && !(job_.threshold > 0);
  }

  void run_network(const RankImages& images, const Rectangle& inner) const {
    if (network_reach_ == 1)
      NetworkMedians<Key, 1>(job_.channels, plainly()).run(images, inner);
    else
      NetworkMedians<Key, 2>(job_.channels, plainly()).run(images, inner);
    if (!plainly()) finish(images, inner);
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
  std::vector<RankPart<Key>> parts_;    ///< one a thread
  std::vector<TiledRanks<Key>> tiles_;  ///< likewise, for small windows that have no network
  std::int64_t network_reach_ = 0;      ///< 1 or 2 for medians of 3 x 3 and 5 x 5, by networks
};

inline std::unique_ptr<RankOperation> PrepareRank(Backend& backend, const RankJob& job) {
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

std::unique_ptr<RankOperation> prepare_rank(Backend& backend, const RankJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareRank)(backend, job);
}

}  // namespace satin::cpu
#endif
