// Chooses the sums and the division of each box of a chain, and the tiles of a picture.

#include "means/cpu/box_chain.h"

#include <algorithm>
#include <memory>

#include "core/cpu/backend.h"
#include "means/box_mean.h"

namespace satin::cpu {
namespace {

/// Columns of a tile times channels. EPYC 9004, radius 16, 3840 x 2160 RGB, one thread: 1536 15.0 ms, 5760
/// 12.4 ms, whole rows 11.0 ms. The sums of the first fit the L1 cache, but short rows are prefetched late.
constexpr std::int64_t tile_entries = 20000;
/// Columns of a tile times channels for sums of 64 bits. Their rings fit the L2 cache for small radii.
constexpr std::int64_t tile_entries_of_long_sums = 5000;
/// Least ratio of the columns of a tile to those that it shares with its neighbour, and of its rows likewise.
constexpr std::int64_t least_share = 6;
constexpr std::int64_t least_rows = 32;
/// Values of a tile below which one thread is faster. EPYC 9004, radius 8, 64 x 64 RGB, two threads, plan and
/// run: 16 us in two tiles, 10 us in one.
constexpr std::int64_t least_entries = 10000;

bool fractional(Radius256 radius) { return radius % radius_one != 0; }

std::uint64_t covered_size(Radius256 radius) { return 2 * static_cast<std::uint64_t>(radius) + radius_one; }

int more_bits(const BoxMeanJob& job) { return std::max(0, job.write.fraction - job.read.fraction); }

bool is_integer(Type type) { return type == Type::u8 || type == Type::u16 || type == Type::u32; }

/// Chooses the division of 64-bit sums: by rows, except for floats under a mask or with a constant border.
Division division_of_long_sums(const BoxMeanJob& job, std::uint64_t largest, std::uint64_t weights) {
  if (job.read.fixed_point && (job.mask_maximum != 0 || job.border == Border::constant))
    return Division::integer64;
  if (job.write.type == Type::f32) return Division::float64;
  if (largest <= divide_limit / weights / (job.read.maximum + 1)) return Division::float64;
  return wide_sums_fit(job, largest, weights) ? Division::wide64 : Division::integer64;
}

/// Chooses the narrowest type that holds the job's sums.
void choose_sums(ChainBox& box) {
  const BoxMeanJob& job = box.job;
  const std::uint64_t maximum = job.read.maximum;
  const bool fractional_x = fractional(job.radius.x);
  const bool fractional_y = fractional(job.radius.y);
  const std::uint64_t largest = largest_box(job.width, job.height, job.radius, job.border);
  const std::uint64_t weights = std::uint64_t{fractional_x || fractional_y ? 0x10000U : 1U} << more_bits(job);
  // SIMD converts means as signed words.
  const std::uint64_t largest_mean = box.unweights() ? white_of(job.read) : maximum;
  const bool signed_means =
      !job.read.fixed_point && is_integer(job.write.type) && largest_mean <= (0x7FFFFFFFU >> more_bits(job));

  const auto rows = static_cast<std::uint64_t>(2 * box.reach_y + 1);
  const std::uint64_t column = maximum * (fractional_y ? covered_size(job.radius.y) : rows);
  const auto columns = static_cast<std::uint64_t>(job.width + 2 * box.halo_x);
  const bool short_columns = maximum <= 0x7FFFFFFF / std::max<std::uint64_t>(rows, 2);
  const bool exact = signed_means && short_columns && largest <= divide_limit / weights / (maximum + 1) &&
                     column <= (std::uint64_t{1} << 53) / columns;
  if (!exact) {
    box.sums = Sums::integer64;
    box.division = division_of_long_sums(job, largest, weights);
    return;
  }
  const std::uint64_t inner = column * static_cast<std::uint64_t>(2 * box.reach_x + 1);
  const bool narrow = fractional_x || fractional_y
                          ? column < (1U << 30) && inner < (fractional_x ? 0xFF000000 : 0x80000000)
                          : narrow_sums(job);
  box.sums = narrow ? Sums::integer32 : Sums::float64;
}

/// Replaces doubles by 32-bit integers if these divide exactly.
void choose_short_division(ChainBox& box) {
  const BoxMeanJob& job = box.job;
  if (box.sums != Sums::integer32 || box.unweights()) return;
  const bool covers = fractional(job.radius.x) || fractional(job.radius.y);
  const int fraction = job.write.working ? 0 : job.read.fraction;
  const std::uint64_t largest = largest_box(job.width, job.height, job.radius, job.border);
  const std::uint64_t divisor = largest * (covers ? 0x10000 : 1) << fraction;
  if (covers) {
    if (fractional(job.radius.x) && box.output != Type::u32 && divisor <= largest_word_divisor)
      box.division = Division::integer32;
    return;
  }
  if ((largest * job.read.maximum << more_bits(job)) + divisor / 2 < word_divide_limit)
    box.division = Division::integer32;
}

RowSink sink_of(const ChainBox& box) {
  const bool as_is = (!box.unweights() || box.job.write.type == Type::f32) && !box.unpremultiplies() &&
                     box.job.mask_maximum == 0 && box.job.write.transfer == Transfer::identity;
  return as_is ? RowSink::output_as_is : RowSink::blend_or_encode;
}

/// Chooses the source, the sink and the types of the box's rows.
void choose_rows(ChainBox& box, bool first) {
  const BoxMeanJob& job = box.job;
  const PixelRead& read = job.read;
  const bool is_long = box.sums == Sums::integer64;
  const bool words = read.type == Type::u32 || read.type == Type::u64;
  const bool identity = read.transfer == Transfer::identity;
  const bool narrow = is_integer(read.type) && identity && !is_long && !read.weighted && !read.premultiplied;
  // Products of 8-bit light, or of codes, and alpha fit 32 bits.
  const bool pixels = first && read.weighted && !job.excludes && !read.fixed_point && read.fraction == 0;
  box.multiplies = pixels && box.halo_y == box.reach_y &&
                   (is_long ? read.type == Type::u16 && identity : read.type == Type::u8);
  if (!first) {
    box.source = RowSource::previous_box;
  } else {
    const bool in_place = words || narrow || (box.multiplies && identity);
    box.source = in_place ? RowSource::picture_in_place : RowSource::decoded_ring;
  }
  if (box.source != RowSource::decoded_ring) {
    box.input = read.type;
  } else if (read.fixed_point || read.maximum > 0xFFFFFFFF) {
    box.input = Type::u64;
  } else {
    box.input = is_long || (read.maximum > 0xFFFF && !box.multiplies) ? Type::u32 : Type::u16;
  }
  box.output = job.write.type;
  if (box.division == Division::integer64) return;
  box.sink = sink_of(box);
  if (box.sink == RowSink::output_as_is) return;
  const bool with_alpha = read.weighted && !job.excludes;
  const bool wide = job.write.type != Type::u8 && (with_alpha || job.write.transfer != Transfer::identity);
  box.output = wide || (box.unpremultiplies() && read.maximum > 0xFFFF) ? Type::u32 : Type::u16;
}

void measure_columns(ChainBox& box) {
  const BoxMeanJob& job = box.job;
  const auto channels = static_cast<std::size_t>(job.read.channels);
  // The columns of the left side, of which the last has an unclipped window or is in the middle of the
  // picture.
  const std::int64_t side = std::min(box.halo_x + 1, (job.width + 1) / 2);
  const std::int64_t between = std::max<std::int64_t>(0, job.width - 2 * side);
  WorkspaceVector<double>& pixels = box.window_pixels;
  pixels.resize(static_cast<std::size_t>(job.width) * channels);
  auto next = pixels.begin();
  for (std::int64_t x = 0; x < side; ++x)
    next = std::fill_n(next, channels,
                       static_cast<double>(axis_box(x, job.width, job.radius.x, job.border).size));
  next = std::fill_n(next, static_cast<std::size_t>(between) * channels, next[-1]);
  std::reverse_copy(pixels.begin(), pixels.begin() + (pixels.end() - next), next);
}

/// The mean over the included pixels is a mean weighted by an alpha of 0 or 1: adds this alpha as one more
/// channel. Premultiplied channels are averaged alike, so none of them is an alpha.
BoxMeanJob summed(BoxMeanJob job) {
  if (job.read.premultiplied) job.read.alpha_maximum = 0;
  if (!job.excludes) return job;
  job.border_value[static_cast<std::size_t>(job.read.channels)] = 1;
  ++job.read.channels;
  job.read.weighted = true;
  job.read.alpha_maximum = 1;
  return job;
}

/// Whether the pixels, with their count as one more channel, have the two or four channels that Unweight()
/// takes.
bool counts_in_rows(const BoxMeanJob& job) {
  return !job.read.weighted && !job.read.fixed_point && (job.read.channels == 1 || job.read.channels == 3);
}

/// Whether windows can slide. Those of a border that repeats the picture may not be far larger than it.
bool slides(const BoxMeanJob& job) {
  if (job.radius.from_map || (job.radius.x == 0 && job.radius.y == 0)) return false;
  if (job.excludes && !counts_in_rows(job)) return false;
  return job.border == Border::shrink ||
         (job.radius.x / radius_one <= 2 * job.width && job.radius.y / radius_one <= 2 * job.height);
}

/// Returns the reach of the inner window; clipped windows need not reach beyond the picture.
std::int64_t reach_of(Radius256 radius, std::int64_t size, Border border) {
  const std::int64_t reach = radius / radius_one;
  return border == Border::shrink ? std::min(reach, size - 1) : reach;
}

}  // namespace

bool narrow_sums(const BoxMeanJob& job) {
  return job.read.maximum <= 0x7FFFFFFF / largest_box(job.width, job.height, job.radius, job.border);
}

bool wide_sums_fit(const BoxMeanJob& job, std::uint64_t largest, std::uint64_t weights) {
  constexpr std::uint64_t one = 1;
  const PixelRead& read = job.read;
  const bool working = job.write.working;
  const std::uint64_t divisor = working ? 1 : std::max(read.alpha_maximum, one << read.fraction);
  const std::uint64_t largest_mean = working ? read.maximum << more_bits(job) : white_of(read);
  return largest <= (one << 63) / (read.maximum + 1) && largest_mean < one << 49 &&
         largest <= (one << 52) / weights / divisor;
}

std::optional<std::vector<ChainBox>> chain_of(std::span<const BoxMeanJob> jobs) {
  std::vector<ChainBox> boxes;
  boxes.reserve(jobs.size());
  for (const BoxMeanJob& job : jobs) {
    if (!slides(job)) return {};
    const bool first = boxes.empty();
    ChainBox& box = boxes.emplace_back();
    box.job = summed(job);
    box.reach_x = reach_of(job.radius.x, job.width, job.border);
    box.reach_y = reach_of(job.radius.y, job.height, job.border);
    box.halo_x = box.reach_x + (fractional(job.radius.x) ? 1 : 0);
    box.halo_y = box.reach_y + (fractional(job.radius.y) ? 1 : 0);
    choose_sums(box);
    choose_rows(box, first);
    choose_short_division(box);
    const bool narrow = size_of(box.input) < sizeof(std::uint32_t) && !box.multiplies;
    if (box.sums == Sums::integer64 && (job.excludes || narrow)) return {};
    if (box.division == Division::integer64 && box.unpremultiplies()) return {};
    if (job.border == Border::shrink) measure_columns(box);
  }
  for (std::size_t i = boxes.size() - 1; i > 0; --i) {
    boxes[i - 1].sink = RowSink::next_box;
    boxes[i - 1].margin_x = boxes[i].margin_x + boxes[i].halo_x;
    boxes[i - 1].margin_y = boxes[i].margin_y + boxes[i].halo_y;
  }
  return boxes;
}

BoxChain::BoxChain(CpuBackend& backend, std::vector<ChainBox> boxes)
    : backend_(backend), boxes_(std::move(boxes)), stores_(boxes_.size()) {
  const ChainBox& first = boxes_[0];
  const BoxMeanJob& job = first.job;
  const std::int64_t threads = backend.threads.count();
  const std::int64_t entries_of_tile =
      first.sums == Sums::integer64 ? tile_entries_of_long_sums : tile_entries;
  const std::int64_t columns =
      std::max(entries_of_tile / job.read.channels, least_share * (first.margin_x + first.halo_x));
  const std::int64_t rows = std::max(least_rows, least_share * first.margin_y + first.halo_y);
  if (job.border != Border::wrap) across_ = std::max<std::int64_t>(1, job.width / columns);
  const std::int64_t entries = job.width * job.height * job.read.channels;
  down_ = std::clamp<std::int64_t>(
      (threads + across_ - 1) / across_, 1,
      std::max<std::int64_t>(1, std::min(job.height / rows, entries / least_entries)));
  tiles_.resize(static_cast<std::size_t>(std::min(threads, across_ * down_)));
  for (auto& tile : tiles_) tile = make_sliding_boxes(boxes_, (job.width + across_ - 1) / across_);
}

void BoxChain::slide(const BoxMeanImages& images, const TakeMeans& take) {
  const BoxMeanJob& job = boxes_.front().job;
  for (std::size_t i = 0; i < boxes_.size(); ++i) stores_[i] = mean_store(boxes_[i].job, images.measured);
  const auto tiles = [&](std::int64_t begin, std::int64_t end, int thread) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t x = i % across_;
      const std::int64_t y = i / across_;
      const Tile tile{job.width * x / across_, job.width * (x + 1) / across_, job.height * y / down_,
                      job.height * (y + 1) / down_};
      const bool own = tiles_.size() == static_cast<std::size_t>(across_ * down_);
      tiles_[static_cast<std::size_t>(own ? i : thread)]->run(stores_, images, tile, take, thread);
    }
  };
  backend_.threads.for_rows(across_ * down_, 1, std::ref(tiles));  // a reference allocates nothing
}

Prepared<BoxChainJob> prepare_box_chain(Backend& backend, const BoxChainJob& chain) {
  auto boxes = chain_of(chain.boxes);
  if (!boxes) return nullptr;
  return std::make_unique<BoxChain>(as_cpu(backend), std::move(*boxes));
}

}  // namespace satin::cpu
