// Connected components and sums of values under labels on the CPU, compiled for every SIMD target.
//
// A tile of rows is labelled by itself (He, Chao, Suzuki 2008): its rows become bits, and bits become runs.
// The first scan gives every run a provisional label and joins the labels of runs that touch. Then the
// components of all tiles are joined along their seams, and the second scan writes the final labels and the
// shapes.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "masks/cpu/regions.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "core/cpu/backend.h"
#include "core/with_type.h"
#include "core/workspace.h"
#include "masks/regions.h"
#include "scan/cpu/blocks.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Disjoint sets of 0, 1 ... as trees in which parents are smaller, so that a root is the least of its set
/// (Rem's rule of linking by index; Tarjan and van Leeuwen 1984).
class DisjointSets {
 public:
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(parents_.size()); }
  [[nodiscard]] std::uint32_t parent(std::uint32_t i) const { return parents_[i]; }
  void resize(std::uint32_t count) {
    parents_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) parents_[i] = i;
  }

  std::uint32_t add() {
    parents_.push_back(size());
    return parents_.back();
  }

  /// Returns the root; halves the path to it.
  std::uint32_t root_of(std::uint32_t i) {
    while (parents_[i] != i) {
      parents_[i] = parents_[parents_[i]];
      i = parents_[i];
    }
    return i;
  }

  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    a = root_of(a);
    b = root_of(b);
    if (a > b) return parents_[a] = b;
    return parents_[b] = a;
  }

 private:
  WorkspaceVector<std::uint32_t> parents_;
};

inline constexpr std::size_t bits_of_word = 64;

[[nodiscard]] constexpr std::size_t words_for(std::size_t pixels) {
  return (pixels + bits_of_word - 1) / bits_of_word;
}

HWY_INLINE std::uint64_t WholeWord(const std::uint8_t* mask) {
  const hn::CappedTag<std::uint8_t, bits_of_word> d;
  const std::size_t lanes = hn::Lanes(d);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < bits_of_word; i += lanes) {
    std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Ne(hn::LoadU(d, mask + i), hn::Zero(d)), bits);
    std::uint64_t part = 0;
    hwy::CopyBytes<8>(bits, &part);
    word |= part << i;
  }
  return word;
}

/// Bit i % 64 of words[i / 64] becomes 1 where mask[i] is not 0 (where it is, if `zeros`). Bits after the
/// last pixel become 0.
inline void FindBits(const std::uint8_t* mask, std::size_t pixels, bool zeros, std::uint64_t* words) {
  const std::uint64_t inverted = zeros ? ~std::uint64_t{0} : 0;
  std::size_t i = 0;
  for (; i + bits_of_word <= pixels; i += bits_of_word) *words++ = WholeWord(mask + i) ^ inverted;
  if (i == pixels) return;
  std::uint64_t word = 0;
  for (std::size_t bit = 0; i + bit < pixels; ++bit)
    word |= static_cast<std::uint64_t>((mask[i + bit] == 0) == zeros) << bit;
  *words = word;
}

/// Number of pixels that FillRuns() may write after the last one.
inline constexpr std::size_t fill_margin = 64;

/// Fills [from, to), and up to a vector more.
HWY_INLINE void Fill(std::uint32_t value, std::size_t from, std::size_t to, std::uint32_t* out) {
  const hn::CappedTag<std::uint32_t, 16> d;
  const auto values = hn::Set(d, value);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = from; i < to; i += lanes) hn::StoreU(values, d, out + i);
}

/// Writes labels[r] to the pixels from edges[2 r] to edges[2 r + 1] - 1, and 0 to the others. Runs ascend;
/// `out` has room for `pixels` + fill_margin.
inline void FillRuns(const std::uint32_t* edges, const std::uint32_t* labels, std::size_t runs,
                     std::size_t pixels, std::uint32_t* out) {
  std::size_t end = 0;
  for (std::size_t run = 0; run < runs; ++run) {
    Fill(0, end, edges[2 * run], out);
    end = edges[2 * run + 1];
    Fill(labels[run], edges[2 * run], end, out);
  }
  Fill(0, end, pixels, out);
}

/// Copies with stores that bypass the caches, as a picture of labels does not fit them.
inline void CopyStreaming(const std::uint32_t* from, std::size_t count, std::uint32_t* to) {
  const hn::ScalableTag<std::uint32_t> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t vector_bytes = lanes * sizeof *to;
  std::size_t i = 0;
  for (; i < count && reinterpret_cast<std::uintptr_t>(to + i) % vector_bytes != 0; ++i) to[i] = from[i];
  for (; i + lanes <= count; i += lanes) hn::Stream(hn::LoadU(d, from + i), d, to + i);
  hwy::FlushStream();
  for (; i < count; ++i) to[i] = from[i];
}

/// The runs of one row: edges[2 i] to edges[2 i + 1] - 1, followed by one beyond every row.
struct Runs {
  static constexpr std::uint32_t beyond = 0xFFFFFFFEU;

  WorkspaceVector<std::uint32_t> edges;
  std::size_t count = 0;

  explicit Runs(std::size_t width) : edges(width + 4, beyond) {}

  void find(const std::uint64_t* words, std::size_t width) {
    std::uint32_t* next = edges.data();
    std::uint64_t inside = 0;  // the bit before the word
    for (std::size_t i = 0; i < words_for(width); ++i) {
      const auto base = static_cast<std::uint32_t>(i * bits_of_word);
      for (std::uint64_t changes = words[i] ^ (words[i] << 1 | inside); changes != 0; changes &= changes - 1)
        *next++ = base + static_cast<std::uint32_t>(std::countr_zero(changes));
      inside = words[i] >> (bits_of_word - 1);
    }
    if (inside != 0) *next++ = static_cast<std::uint32_t>(width);
    count = static_cast<std::size_t>(next - edges.data()) / 2;
    next[0] = next[1] = beyond;
  }
};

inline void Include(RegionShape& shape, std::uint32_t begin, std::uint32_t end, std::uint32_t row,
                    std::uint32_t width) {
  if (shape.area == 0) {
    shape.first = row * width + begin;
    shape.top = row;
  }
  shape.area += end - begin;
  shape.left = std::min(shape.left, begin);
  shape.right = std::max(shape.right, end - 1);
  shape.bottom = row;
  const std::uint64_t length = end - begin;
  shape.sum_x += length * begin + length * (length - 1) / 2;
  shape.sum_y += row * length;
}

/// A component of a tile that other tiles continue.
struct Part {
  std::uint32_t label = 0;  ///< final label
  RegionShape shape;
};

class LabelTile {
 public:
  LabelTile(std::int64_t first_row, std::int64_t last_row) : first_(first_row), last_(last_row) {}

  /// First scan: labels the tile, and stores the bits of its rows in `words`.
  void scan(const LabelJob& job, const ImageView& mask, std::uint64_t* words) {
    const auto width = static_cast<std::size_t>(job.width);
    const std::uint32_t reach = job.connectivity == 8 ? 1 : 0;
    runs_.clear();
    DisjointSets sets;
    Runs row(width);
    Runs above(width);
    for (std::int64_t y = first_; y < last_; ++y, words += words_for(width)) {
      FindBits(mask.row<std::uint8_t>(y), width, job.zeros, words);
      row.find(words, width);
      label_row(row, above, reach, sets);
      if (y == first_) first_row_runs_ = row.count;
      last_row_runs_ = row.count;
      std::swap(row, above);
    }
    number_components(sets);
  }

  /// Components are numbered from 0 in the raster order of their first pixels.
  [[nodiscard]] std::uint32_t components() const { return components_; }
  [[nodiscard]] std::span<const std::uint32_t> first_row() const {
    return std::span(runs_).first(first_row_runs_);
  }
  [[nodiscard]] std::span<const std::uint32_t> last_row() const {
    return std::span(runs_).last(last_row_runs_);
  }

  /// Second scan: writes final[component] to the pixels. The shape of a component goes to shapes[final - 1]
  /// if no other tile continues it, otherwise to `parts`.
  void write(const LabelJob& job, const std::uint64_t* words, const std::uint32_t* final,
             const std::uint8_t* whole, const MutableImageView& labels, RegionShape* shapes) {
    constexpr RegionShape no_shape{0, 0, std::numeric_limits<std::uint32_t>::max(), 0, 0, 0, 0, 0};
    const auto width = static_cast<std::size_t>(job.width);
    WorkspaceVector<RegionShape> found(components_, no_shape);
    WorkspaceVector<std::uint32_t> row_labels(width / 2 + 1);
    WorkspaceVector<std::uint32_t> filled(width + fill_margin);
    Runs runs(width);
    const std::uint32_t* component = runs_.data();
    for (std::int64_t y = first_; y < last_; ++y, words += words_for(width)) {
      runs.find(words, width);
      for (std::size_t i = 0; i < runs.count; ++i) {
        Include(found[component[i]], runs.edges[2 * i], runs.edges[2 * i + 1], static_cast<std::uint32_t>(y),
                static_cast<std::uint32_t>(width));
        row_labels[i] = final[component[i]];
      }
      component += runs.count;
      FillRuns(runs.edges.data(), row_labels.data(), runs.count, width, filled.data());
      CopyStreaming(filled.data(), width, labels.row<std::uint32_t>(y));
    }
    parts.clear();
    for (std::uint32_t i = 0; i < components_; ++i)
      if (whole[i] != 0)
        shapes[final[i] - 1] = found[i];
      else
        parts.push_back({final[i], found[i]});
  }

  WorkspaceVector<Part> parts;

 private:
  /// Appends the labels of a row after those of the row above. Two runs touch if each begins before the other
  /// one's end plus `reach`, which is 1 for diagonal neighbours.
  void label_row(const Runs& row, const Runs& above, std::uint32_t reach, DisjointSets& sets) {
    const std::size_t first = runs_.size();
    runs_.resize(first + row.count);
    const std::uint32_t* upper_label = runs_.data() + first - above.count;
    const std::uint32_t* upper = above.edges.data();
    for (std::size_t i = 0; i < row.count; ++i) {
      const std::uint32_t begin = row.edges[2 * i];
      const std::uint32_t end = row.edges[2 * i + 1] + reach;
      for (; upper[1] + reach <= begin; upper += 2) ++upper_label;
      if (upper[0] >= end) {
        runs_[first + i] = sets.add();
        continue;
      }
      std::uint32_t label = *upper_label;
      for (; upper[2] < end; upper += 2)
        if (*++upper_label != label) label = sets.join(label, *upper_label);
      runs_[first + i] = label;
    }
  }

  /// Numbers the components in raster order: roots are the least labels, which were given in raster order.
  void number_components(const DisjointSets& sets) {
    WorkspaceVector<std::uint32_t> number(sets.size());
    components_ = 0;
    for (std::uint32_t i = 0; i < sets.size(); ++i)
      number[i] = sets.parent(i) == i ? components_++ : number[sets.parent(i)];
    for (std::uint32_t& run : runs_) run = number[run];
  }

  std::int64_t first_;
  std::int64_t last_;
  WorkspaceVector<std::uint32_t> runs_;  ///< the component of every run; its provisional label at first
  std::size_t first_row_runs_ = 0;
  std::size_t last_row_runs_ = 0;
  std::uint32_t components_ = 0;
};

constexpr std::int64_t fewest_rows = 32;  ///< per tile
constexpr std::int64_t tiles_per_thread = 8;

inline std::int64_t RowsOfTile(std::int64_t height, int threads) {
  if (threads == 1) return height;
  const std::int64_t wanted = tiles_per_thread * threads;
  return std::max(fewest_rows, (height + wanted - 1) / wanted);
}

inline void Merge(RegionShape& into, const RegionShape& part) {
  if (into.area == 0) {
    into = part;
    return;
  }
  into.first = std::min(into.first, part.first);
  into.area += part.area;
  into.left = std::min(into.left, part.left);
  into.right = std::max(into.right, part.right);
  into.top = std::min(into.top, part.top);
  into.bottom = std::max(into.bottom, part.bottom);
  into.sum_x += part.sum_x;
  into.sum_y += part.sum_y;
}

class Label final : public LabelOperation {
 public:
  Label(CpuBackend& backend, const LabelJob& job)
      : backend_(backend),
        job_(job),
        words_(words_for(static_cast<std::size_t>(job.width))),
        rows_(RowsOfTile(job.height, backend.threads.count())) {
    check_label_size(job.width, job.height);
    bits_ = backend.allocate(words_ * static_cast<std::size_t>(job.height) * sizeof(std::uint64_t));
    for (std::int64_t y = 0; y < job.height; y += rows_)
      tiles_.emplace_back(y, std::min(y + rows_, job.height));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return bits_.size; }

  std::uint32_t run(const ImageView& mask, const MutableImageView& labels, Stream) override {
    for_tiles([&](std::size_t i) { tiles_[i].scan(job_, mask, bits_of(i)); });
    number_tiles();
    for (std::size_t i = 1; i < tiles_.size(); ++i) join_seam(i);
    const std::uint32_t count = number_components();
    shapes_ = backend_.allocate(count * sizeof(RegionShape));
    for_tiles([&](std::size_t i) {
      tiles_[i].write(job_, bits_of(i), final_.data() + offsets_[i], whole_.data() + offsets_[i], labels,
                      shapes());
    });
    merge_parts();
    return count;
  }

  [[nodiscard]] const RegionShape* describe(Stream) override { return shapes(); }

 private:
  template <class Body>
  void for_tiles(const Body& body) {
    for_blocks(backend_, static_cast<std::int64_t>(tiles_.size()),
               [&](std::int64_t i) { body(static_cast<std::size_t>(i)); });
  }

  [[nodiscard]] std::uint64_t* bits_of(std::size_t tile) const {
    return bits_of_row(static_cast<std::int64_t>(tile) * rows_);
  }
  [[nodiscard]] std::uint64_t* bits_of_row(std::int64_t y) const {
    return reinterpret_cast<std::uint64_t*>(bits_.get()) + static_cast<std::size_t>(y) * words_;
  }
  [[nodiscard]] RegionShape* shapes() const { return reinterpret_cast<RegionShape*>(shapes_.get()); }

  /// Numbers the components of all tiles, tile after tile, in the raster order of their first pixels.
  void number_tiles() {
    offsets_.assign(1, 0);
    for (const LabelTile& tile : tiles_) offsets_.push_back(offsets_.back() + tile.components());
    sets_.resize(offsets_.back());
    whole_.assign(offsets_.back(), 1);
  }

  void join_seam(std::size_t tile) {
    const std::int64_t y = static_cast<std::int64_t>(tile) * rows_;
    const auto width = static_cast<std::size_t>(job_.width);
    const std::uint32_t reach = job_.connectivity == 8 ? 1 : 0;
    Runs lower(width);
    Runs upper(width);
    lower.find(bits_of_row(y), width);
    upper.find(bits_of_row(y - 1), width);
    const auto lower_runs = tiles_[tile].first_row();
    const auto upper_runs = tiles_[tile - 1].last_row();
    std::size_t above = 0;
    for (std::size_t i = 0; i < lower_runs.size(); ++i) {
      while (above < upper_runs.size() && upper.edges[2 * above + 1] + reach <= lower.edges[2 * i]) ++above;
      for (std::size_t k = above;
           k < upper_runs.size() && upper.edges[2 * k] < lower.edges[2 * i + 1] + reach; ++k) {
        const std::uint32_t a = offsets_[tile - 1] + upper_runs[k];
        const std::uint32_t b = offsets_[tile] + lower_runs[i];
        whole_[a] = whole_[b] = 0;
        sets_.join(a, b);
      }
    }
  }

  std::uint32_t number_components() {
    final_.resize(sets_.size());
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < sets_.size(); ++i)
      final_[i] = sets_.parent(i) == i ? ++count : final_[sets_.parent(i)];
    return count;
  }

  void merge_parts() {
    for (const LabelTile& tile : tiles_)
      for (const Part& part : tile.parts) shapes()[part.label - 1].area = 0;
    for (const LabelTile& tile : tiles_)
      for (const Part& part : tile.parts) Merge(shapes()[part.label - 1], part.shape);
  }

  CpuBackend& backend_;
  LabelJob job_;
  std::size_t words_;  ///< words per row
  std::int64_t rows_;  ///< rows per tile; the last tile may have fewer
  Buffer bits_;
  WorkspaceVector<LabelTile> tiles_;
  WorkspaceVector<std::uint32_t> offsets_;  ///< number of each tile's first component
  DisjointSets sets_;                       ///< components of all tiles
  WorkspaceVector<std::uint8_t> whole_;     ///< 1 for components that no other tile continues
  WorkspaceVector<std::uint32_t> final_;    ///< final labels of the components
  Buffer shapes_;
};

inline Prepared<LabelJob> PrepareLabel(Backend& backend, const LabelJob& job) {
  return std::make_unique<Label>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {
namespace {

// Sums of a picture's values under every label. Pixels are summed by runs of one label, runs in a small table
// of each thread, and tables by atomic operations. All sums are integers, so their order does not matter.

constexpr std::int64_t rows_at_once = 64;
constexpr std::size_t table_entries = 1024;

void add_atomically(RegionSums& into, const RegionSums& part) {
  const auto add_to = [](std::uint64_t& sum, std::uint64_t value) {
    std::atomic_ref(sum).fetch_add(value, std::memory_order_relaxed);
  };
  add_to(into.sum, part.sum);
  add_to(into.squares_low, part.squares_low);
  add_to(into.squares_high, part.squares_high);
  const std::atomic_ref smallest(into.smallest);
  for (std::uint32_t seen = smallest.load(std::memory_order_relaxed);
       part.smallest < seen &&
       !smallest.compare_exchange_weak(seen, part.smallest, std::memory_order_relaxed);) {
  }
  const std::atomic_ref largest(into.largest);
  for (std::uint32_t seen = largest.load(std::memory_order_relaxed);
       part.largest > seen &&
       !largest.compare_exchange_weak(seen, part.largest, std::memory_order_relaxed);) {
  }
}

/// Sums of the labels that were met last: a direct-mapped table, indexed by label % table_entries.
class RecentSums {
 public:
  RecentSums(RegionSums* all, int channels)
      : all_(all),
        channels_(static_cast<std::size_t>(channels)),
        labels_(table_entries),
        sums_(table_entries * channels_) {}

  RegionSums* of(std::uint32_t label) {
    const std::size_t entry = label % table_entries;
    if (labels_[entry] != label) {
      write(entry);
      labels_[entry] = label;
      std::fill_n(&sums_[entry * channels_], channels_, RegionSums{});
    }
    return &sums_[entry * channels_];
  }

  void write_all() {
    for (std::size_t entry = 0; entry < table_entries; ++entry) write(entry);
  }

 private:
  void write(std::size_t entry) {
    if (labels_[entry] == 0) return;
    RegionSums* into = all_ + (labels_[entry] - std::size_t{1}) * channels_;
    for (std::size_t c = 0; c < channels_; ++c) add_atomically(into[c], sums_[entry * channels_ + c]);
  }

  RegionSums* all_;
  std::size_t channels_;
  WorkspaceVector<std::uint32_t> labels_;  ///< label of each entry; 0: none
  WorkspaceVector<RegionSums> sums_;
};

template <class T>
class SumRegionValues final : public RegionValuesOperation {
 public:
  SumRegionValues(CpuBackend& backend, const RegionValuesJob& job) : backend_(backend), job_(job) {}

  void run(const ImageView& labels, const ImageView& picture, const Measured* measured, std::uint32_t count,
           RegionSums* sums, Stream) override {
    const int exponent = measured == nullptr ? 0 : fixed_exponent(measured->largest[0], job_.fixed_bits);
    std::fill_n(sums, static_cast<std::size_t>(count) * static_cast<std::size_t>(job_.channels),
                RegionSums{});
    parallel_rows(backend_, job_.height, rows_at_once, [&](std::int64_t first, std::int64_t last) {
      RecentSums recent(sums, job_.channels);
      for (std::int64_t y = first; y < last; ++y)
        sum_row(labels.row<std::uint32_t>(y), picture.row<T>(y), exponent, recent);
      recent.write_all();
    });
  }

 private:
  void sum_row(const std::uint32_t* labels, const T* pixels, int exponent, RecentSums& recent) const {
    for (std::int64_t begin = 0; begin < job_.width;) {
      const std::uint32_t label = labels[begin];
      std::int64_t end = begin + 1;
      while (end < job_.width && labels[end] == label) ++end;
      if (label != 0) {
        RegionSums* sums = recent.of(label);
        for (int c = 0; c < job_.channels; ++c) {
          RegionSums run;
          for (std::int64_t x = begin; x < end; ++x)
            add(run, sums_of(pixels[x * job_.channels + c], exponent, job_.fixed_bits));
          add(sums[c], run);
        }
      }
      begin = end;
    }
  }

  CpuBackend& backend_;
  RegionValuesJob job_;
};

}  // namespace

HWY_EXPORT(PrepareLabel);

Prepared<LabelJob> prepare_label(Backend& backend, const LabelJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLabel)(backend, job);
}

Prepared<RegionValuesJob> prepare_region_values(Backend& backend, const RegionValuesJob& job) {
  return with_pixel_type(job.type, [&]<class T>() -> Prepared<RegionValuesJob> {
    return std::make_unique<SumRegionValues<T>>(as_cpu(backend), job);
  });
}

}  // namespace satin::cpu
#endif
