// Order statistics on CUDA: chooses the method that finds the ranks of a job, and runs it channel by channel.

#include "order/rank.h"

#include <algorithm>

#include "core/cuda/backend.h"
#include "kernels/order/launch.h"

namespace satin::cuda {
namespace {

constexpr std::int64_t largest_side = 1LL << 28;
constexpr std::int64_t most_tiled_rows = 1LL << 19;       // a grid has at most 65535 blocks down
constexpr std::int64_t most_threshold_words = 1LL << 30;  // 4 GiB; the wavelet matrix works chunk by chunk

enum class Method : std::uint8_t { networks, thresholds, wavelet_matrix };

Method method_of(const RankJob& job) {
  if (job.reach.from_map || job.excludes) return Method::wavelet_matrix;
  const bool median_of_square = job.reach.x == job.reach.y && 2 * job.percent == percent_whole;
  const bool small = job.reach.x >= 1 && job.reach.x <= kernels::largest_tiled_reach;
  if (median_of_square && small && job.height <= most_tiled_rows) return Method::networks;
  const bool narrow =
      job.type == Type::u8 && !job.weighted && kernels::threshold_words(job) <= most_threshold_words;
  return narrow ? Method::thresholds : Method::wavelet_matrix;
}

class Rank final : public RankOperation {
 public:
  Rank(CudaBackend& backend, const RankJob& job) : backend_(backend), job_(job), method_(method_of(job)) {
    if (method_ == Method::thresholds) {
      const auto words = static_cast<std::size_t>(kernels::threshold_words(job));
      workspace_ = backend.allocate(words * sizeof(std::uint32_t));
    } else if (method_ == Method::wavelet_matrix) {
      chunk_size_ = kernels::wavelet_chunk_size(job);
      workspace_ = backend.allocate(kernels::wavelet_bytes(job, chunk_size_.elements));
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const noexcept override { return workspace_.size; }

  void run(const RankImages& images, Stream stream) override {
    backend_.select();
    const kernels::StreamHandle handle = backend_.stream_of(stream);
    kernels::RankArguments arguments;
    arguments.job = job_;
    const bool by_networks = method_ == Method::networks;
    arguments.plain = (!job_.weighted || by_networks) && job_.mask_maximum == 0 && !(job_.threshold > 0);
    std::copy(job_.border_keys.begin(), job_.border_keys.end(), arguments.outside);
    arguments.source = source_of(images.source);
    arguments.radius_map = source_of(images.radius_map);
    arguments.mask = source_of(images.mask);
    arguments.output = target_of(images.output);
    for (arguments.channel = 0; arguments.channel < job_.channels; ++arguments.channel)
      find_ranks(arguments, handle);
    if (job_.weighted && by_networks) {
      kernels::partial_medians(arguments, handle);
      check_launch("finding medians of fewer pixels");
    }
    if (arguments.plain) return;
    kernels::finish_ranks(job_, arguments.source, arguments.mask, arguments.output, handle);
    check_launch("storing order statistics");
  }

 private:
  void find_ranks(const kernels::RankArguments& arguments, kernels::StreamHandle stream) {
    switch (method_) {
      case Method::networks:
        kernels::medians_by_networks(arguments, stream);
        break;
      case Method::thresholds:
        kernels::ranks_by_thresholds(
            arguments, {reinterpret_cast<std::uint32_t*>(workspace_.get()), backend_.multiprocessors()},
            stream);
        break;
      case Method::wavelet_matrix:
        find_in_chunks(arguments, stream);
        break;
    }
    check_launch("finding order statistics");
  }

  void find_in_chunks(const kernels::RankArguments& arguments, kernels::StreamHandle stream) {
    kernels::WaveletArguments of_chunk{arguments, {}, workspace_.get()};
    for (int y = 0; y < job_.height; y += chunk_size_.height) {
      for (int x = 0; x < job_.width; x += chunk_size_.width) {
        of_chunk.chunk = kernels::wavelet_chunk(job_, chunk_size_, x, y);
        kernels::ranks_by_wavelet_matrix(of_chunk, stream);
      }
    }
  }

  CudaBackend& backend_;
  RankJob job_;
  Method method_;
  kernels::WaveletChunkSize chunk_size_;
  Buffer workspace_;
};

}  // namespace

Prepared<RankJob> prepare_rank(Backend& backend, const RankJob& job) {
  if (job.width > largest_side || job.height > largest_side)
    throw Error(ErrorKind::usage, "Pictures above 2^28 pixels wide or high cannot be filtered on the GPU.");
  return std::make_unique<Rank>(as_cuda(backend), job);
}

}  // namespace satin::cuda
