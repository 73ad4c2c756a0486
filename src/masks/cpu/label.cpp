// Components of tiles of rows, each found by itself, then joined where tiles meet. Compiled for every SIMD
// target.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "masks/cpu/label.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <algorithm>

#include "core/workspace.h"
#include "masks/cpu/label_tile-inl.h"
#include "masks/label.h"
#include "scan/cpu/blocks.h"

HWY_BEFORE_NAMESPACE();
namespace satin::cpu::HWY_NAMESPACE {

constexpr std::int64_t fewest_rows = 32;  ///< of a tile
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

  /// The components of all tiles get numbers, tile after tile: the raster order of their first pixels.
  void number_tiles() {
    offsets_.assign(1, 0);
    for (const LabelTile& tile : tiles_) offsets_.push_back(offsets_.back() + tile.components());
    sets_.resize(offsets_.back());
    whole_.assign(offsets_.back(), 1);
  }

  /// Joins the components of a tile's first row with those of the row above.
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
  std::size_t words_;  ///< of a row
  std::int64_t rows_;  ///< of a tile, but for the last one
  Buffer bits_;
  WorkspaceVector<LabelTile> tiles_;
  WorkspaceVector<std::uint32_t> offsets_;  ///< the number of each tile's first component
  DisjointSets sets_;                       ///< components of tiles
  WorkspaceVector<std::uint8_t> whole_;     ///< no other tile has a part of it
  WorkspaceVector<std::uint32_t> final_;
  Buffer shapes_;
};

inline Prepared<LabelJob> PrepareLabel(Backend& backend, const LabelJob& job) {
  return std::make_unique<Label>(as_cpu(backend), job);
}

}  // namespace satin::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace satin::cpu {

HWY_EXPORT(PrepareLabel);

Prepared<LabelJob> prepare_label(Backend& backend, const LabelJob& job) {
  return HWY_DYNAMIC_DISPATCH(PrepareLabel)(backend, job);
}

}  // namespace satin::cpu
#endif
