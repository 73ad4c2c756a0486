#include "filters/mask_steps.h"

#include <vector>

#include "masks/label.h"
#include "masks/relabel.h"

namespace satin {
namespace {

/// Labels the components that a rule is about, and lets some of them change sides.
class ComponentPass {
 public:
  ComponentPass(Backend& backend, const Shape& shape, const ComponentRule& rule)
      : backend_(backend),
        rule_(rule),
        width_(shape.width),
        height_(shape.height),
        label_(backend.prepare(LabelJob{width_, height_, rule.connectivity, rule.zeros})) {}

  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return label_->workspace_bytes(); }

  /// Fills `labels` and table[label] = the value of the component's pixels, in host memory.
  void run(const ImageView& mask, const MutableImageView& labels, std::vector<std::uint32_t>& table,
           Stream stream) {
    const std::uint32_t count = label_->run(mask, labels, stream);
    table.assign(1, rule_.zeros ? 255 : 0);
    for (const RegionShape& shape : shapes_of(count, stream)) table.push_back(value_of(shape));
  }

 private:
  [[nodiscard]] std::uint32_t value_of(const RegionShape& shape) const {
    const bool stays =
        shape.area > rule_.most_area || (rule_.zeros && touches_border(shape, width_, height_));
    return stays == rule_.zeros ? 0 : 255;
  }

  std::span<const RegionShape> shapes_of(std::uint32_t count, Stream stream) {
    if (count == 0) return {};
    const RegionShape* shapes = label_->describe(stream);
    if (backend_.host_memory) return {shapes, count};
    shapes_.resize(count);
    backend_.download(shapes_.data(), shapes, count * sizeof(RegionShape), stream);
    return shapes_;
  }

  Backend& backend_;
  ComponentRule rule_;
  std::int64_t width_;
  std::int64_t height_;
  std::unique_ptr<LabelOperation> label_;
  std::vector<RegionShape> shapes_;  ///< copies in host memory, if that is not the backend's
};

class ComponentStep final : public MaskStep {
 public:
  ComponentStep(Backend& backend, const Shape& shape, std::span<const ComponentRule> rules)
      : backend_(backend),
        labels_shape_{shape.width, shape.height, 1, Type::u32},
        labels_(backend.allocate(byte_size(labels_shape_))),
        relabel_(backend.prepare(RelabelJob{shape.width, shape.height, Type::u8})) {
    for (const ComponentRule& rule : rules)
      passes_.push_back(std::make_unique<ComponentPass>(backend, shape, rule));
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override {
    std::size_t bytes = labels_.size + own_table_.size + relabel_->workspace_bytes();
    for (const auto& pass : passes_) bytes += pass->workspace_bytes();
    return bytes;
  }

  void run(const ImageView& mask, const MutableImageView& output, Stream stream) override {
    const MutableImageView labels = mutable_view_of(labels_.get(), labels_shape_, mask.memory);
    ImageView source = mask;
    for (const auto& pass : passes_) {
      pass->run(source, labels, table_, stream);
      relabel_->run({labels, own_table(stream), output}, stream);
      source = output;
    }
  }

 private:
  /// The table in the backend's memory.
  const std::uint32_t* own_table(Stream stream) {
    if (backend_.host_memory) return table_.data();
    const std::size_t bytes = table_.size() * sizeof table_[0];
    if (own_table_.size < bytes) own_table_ = backend_.allocate(bytes);
    backend_.upload(own_table_.get(), table_.data(), bytes, stream);
    return reinterpret_cast<const std::uint32_t*>(own_table_.get());
  }

  Backend& backend_;
  Shape labels_shape_;
  Buffer labels_;
  std::unique_ptr<RelabelJob::Operation> relabel_;
  std::vector<std::unique_ptr<ComponentPass>> passes_;
  // What is in proportion to the number of components grows when it is first needed.
  std::vector<std::uint32_t> table_;
  Buffer own_table_;
};

}  // namespace

std::unique_ptr<MaskStep> component_step(Backend& backend, const Shape& shape,
                                         std::span<const ComponentRule> rules) {
  return std::make_unique<ComponentStep>(backend, shape, rules);
}

}  // namespace satin
