// Which boxes may slide down tiles, and the tiles of a picture shared among the threads.

#include "means/cpu/box_chain.h"

#include <algorithm>
#include <memory>

#include "core/cpu/backend.h"
#include "means/box_mean.h"
#include "means/cpu/box_mean_ways.h"

namespace satin::cpu {
namespace {

/// Columns of a tile times channels. EPYC 9004, radius 16, 3840 x 2160 RGB, one thread: 1536 15.0 ms,
/// 5760 12.4 ms, whole rows 11.0 ms, though the sums of the first alone fit the first cache: short pieces of
/// rows are fetched late.
constexpr std::int64_t tile_entries = 20000;
/// A tile has at least so many times the columns or rows that it shares with its neighbour.
constexpr std::int64_t least_share = 6;

bool near(Border border) {
  return border == Border::shrink || border == Border::clamp || border == Border::reflect ||
         border == Border::mirror;
}

bool plain(const BoxMeanJob& job) {
  const bool integers = !job.read.fixed_point && job.read.type != Type::f32 && job.read.type != Type::u64 &&
                        job.write.type != Type::f32 && job.write.type != Type::u64;
  const bool moves = job.radius.x != 0 || job.radius.y != 0;
  return integers && moves && !job.radius.from_map && !job.read.weighted && job.mask_maximum == 0 &&
         near(job.border);
}

/// The smallest type for working values up to `maximum`.
Type type_for(std::uint64_t maximum) {
  return maximum <= 0xFF ? Type::u8 : maximum <= 0xFFFF ? Type::u16 : Type::u32;
}

std::uint64_t covered_size(Radius256 radius) { return 2 * static_cast<std::uint64_t>(radius) + radius_one; }

/// Whether sums over whole boxes fit the words that are scanned and divided.
bool fits_words(const BoxMeanJob& job) {
  return job.read.maximum <= 0x7FFFFFFF / largest_box(job.width, job.height, job.radius, job.border);
}

/// Whether all sums and quotients fit, and in which type.
bool choose_sums(ChainBox& box) {
  const BoxMeanJob& job = box.job;
  const std::uint64_t maximum = job.read.maximum;
  const int more_bits = std::max(0, job.write.fraction - job.read.fraction);
  if (maximum > (0x7FFFFFFFU >> more_bits)) return false;  // means go through signed words
  const std::uint64_t largest = largest_box(job.width, job.height, job.radius, job.border);
  const std::uint64_t parts = box.fractional ? radius_one * radius_one : 1;
  if (largest > divide_limit / (parts << more_bits) / (maximum + 1)) return false;
  if (!box.fractional) {
    box.words = divides_words(job);
    return true;
  }
  const std::uint64_t column = maximum * static_cast<std::uint64_t>(2 * box.reach_y + 1);
  if (column > 0x7FFFFFFF || 2 * maximum > 0x7FFFFFFF) return false;
  const std::uint64_t weighted = maximum * covered_size(job.radius.y);
  const std::uint64_t inner = weighted * static_cast<std::uint64_t>(2 * box.reach_x + 1);
  box.wide = weighted >= (std::uint64_t{1} << 30) || inner > 0xFFFFFFFF;
  const auto columns = static_cast<std::uint64_t>(job.width + 2 * box.halo_x);
  return weighted <= (std::uint64_t{1} << 53) / columns;
}

void measure_ends(ChainBox& box) {
  const BoxMeanJob& job = box.job;
  const auto add_size = [&](std::int64_t x) {
    const auto size = static_cast<double>(axis_box(x, job.width, job.radius.x, job.border).size);
    box.sizes.insert(box.sizes.end(), static_cast<std::size_t>(job.read.channels), size);
  };
  const std::int64_t ends = std::min(box.halo_x, job.width);
  for (std::int64_t x = 0; x < ends; ++x) add_size(x);
  for (std::int64_t x = job.width - ends; x < job.width; ++x) add_size(x);
}

class BoxChain final : public BoxMeanOperation {
 public:
  BoxChain(CpuBackend& backend, std::vector<ChainBox> boxes) : tiles_(backend, std::move(boxes)) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return tiles_.bytes(); }
  void run(const BoxMeanImages& images, Stream) override { tiles_.run(images, nullptr); }

 private:
  ChainTiles tiles_;
};

}  // namespace

std::optional<std::vector<ChainBox>> chain_of(std::span<const BoxMeanJob> jobs) {
  std::vector<ChainBox> boxes;
  for (const BoxMeanJob& job : jobs) {
    if (!plain(job)) return {};
    ChainBox& box = boxes.emplace_back();
    box.job = job;
    const int part_x = job.radius.x % radius_one;
    const int part_y = job.radius.y % radius_one;
    box.fractional = part_x != 0 || part_y != 0 || !fits_words(job);
    box.reach_x = job.radius.x / radius_one;
    box.reach_y = job.radius.y / radius_one;
    box.halo_x = box.reach_x + (box.fractional ? 1 : 0);
    box.halo_y = box.reach_y + (box.fractional ? 1 : 0);
    const bool first = boxes.size() == 1;
    box.direct = first && job.read.transfer == Transfer::identity;
    box.encodes = job.write.transfer != Transfer::identity;
    box.input = box.direct ? job.read.type : type_for(job.read.maximum);
    box.output = !box.encodes ? job.write.type : job.write.type == Type::u8 ? Type::u16 : Type::u32;
    if (!choose_sums(box)) return {};
    if (job.border == Border::shrink) measure_ends(box);
  }
  for (std::size_t i = boxes.size() - 1; i > 0; --i) {
    boxes[i - 1].margin_x = boxes[i].margin_x + boxes[i].halo_x;
    boxes[i - 1].margin_y = boxes[i].margin_y + boxes[i].halo_y;
  }
  const std::int64_t shared_x = boxes[0].margin_x + boxes[0].halo_x;
  const std::int64_t shared_y = boxes[0].margin_y + boxes[0].halo_y;
  if (4 * shared_x > jobs[0].width || 4 * shared_y > jobs[0].height) return {};
  return boxes;
}

ChainTiles::ChainTiles(CpuBackend& backend, std::vector<ChainBox> boxes)
    : backend_(backend), boxes_(std::move(boxes)) {
  const BoxMeanJob& job = boxes_[0].job;
  const std::int64_t shared_x = boxes_[0].margin_x + boxes_[0].halo_x;
  const std::int64_t shared_y = boxes_[0].margin_y + boxes_[0].halo_y;
  const std::int64_t threads = backend.threads.count();
  const std::int64_t least = std::max(tile_entries / job.read.channels, least_share * shared_x);
  across_ = std::max<std::int64_t>(1, job.width / least);
  down_ = std::clamp<std::int64_t>(
      (threads + across_ - 1) / across_, 1,
      std::max<std::int64_t>(1, job.height / std::max<std::int64_t>(32, least_share * shared_y)));
  for (std::int64_t i = 0; i < threads; ++i)
    tiles_.push_back(make_sliding_boxes(boxes_, (job.width + across_ - 1) / across_));
}

void ChainTiles::run(const BoxMeanImages& images, MeanRows* means) {
  const BoxMeanJob& first = boxes_.front().job;
  MeanStore store = mean_store(boxes_.back().job, images.measured);
  store.reader = row_reader(first.read, images.measured);
  backend_.threads.for_rows(across_ * down_, 1, [&](std::int64_t begin, std::int64_t end, int slot) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t x = i % across_;
      const std::int64_t y = i / across_;
      tiles_[static_cast<std::size_t>(slot)]->run(store, images,
                                                  {first.width * x / across_, first.width * (x + 1) / across_,
                                                   first.height * y / down_, first.height * (y + 1) / down_},
                                                  means, slot);
    }
  });
}

std::unique_ptr<BoxMeanOperation> prepare_box_chain(Backend& backend, const BoxChainJob& chain) {
  auto boxes = chain_of(chain.boxes);
  if (!boxes) return nullptr;
  return std::make_unique<BoxChain>(as_cpu(backend), std::move(*boxes));
}

}  // namespace satin::cpu
