#include "io/nvjpeg/worker.h"

#include "io/nvjpeg_interface.h"

#include <cstdint>

namespace satin::nvjpeg {
namespace {

/// Where reading the codes on the GPU begins, if both engines may: what nvJPEG's own manual draws as an
/// example, and not measured.
constexpr std::int64_t large_picture = 1024 * 768;

Owned<CUstream_st> new_stream() {
  return made<CUstream_st>("creating a stream", [](cudaStream_t* stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
  });
}

/// A thread that waits for it sleeps: other threads have work for its core.
Owned<CUevent_st> new_event() {
  return made<CUevent_st>("creating an event", [](cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventBlockingSync | cudaEventDisableTiming);
  });
}

std::size_t row_bytes(const SatinNvjpegJob& job) {
  return static_cast<std::size_t>(job.width) * static_cast<std::size_t>(job.channels);
}

}  // namespace

unsigned char* DeviceBlock::at_least(std::size_t bytes) {
  if (bytes > size_) {
    give_back();
    check(cudaMallocAsync(&memory_, bytes, stream_), "taking device memory for the picture");
    size_ = bytes;
  }
  return static_cast<unsigned char*>(memory_);
}

void DeviceBlock::give_back() noexcept {
  if (memory_ != nullptr) static_cast<void>(cudaFreeAsync(memory_, stream_));
  memory_ = nullptr;
  size_ = 0;
}

Worker::Worker(const Library& library)
    : library_(library),
      stream_(new_stream()),
      done_(new_event()),
      file_(made<nvjpegJpegStream>("making a file", nvjpegJpegStreamCreate, library.handle())),
      parameters_(made<nvjpegDecodeParams>("making parameters", nvjpegDecodeParamsCreate, library.handle())),
      host_buffer_(made<nvjpegBufferPinned>("making a host buffer", nvjpegBufferPinnedCreateV2,
                                            library.handle(), library.host_memory())),
      device_buffer_(made<nvjpegBufferDevice>("making a device buffer", nvjpegBufferDeviceCreateV2,
                                              library.handle(), library.device_memory())),
      pixels_(stream_.get()) {
  for (const Engine& engine : library.engines()) {
    states_.push_back(made<nvjpegJpegState>("making a state", nvjpegDecoderStateCreate, library.handle(),
                                            engine.decoder.get()));
    check(nvjpegStateAttachPinnedBuffer(states_.back().get(), host_buffer_.get()), "giving it a host buffer");
    check(nvjpegStateAttachDeviceBuffer(states_.back().get(), device_buffer_.get()),
          "giving it a device buffer");
  }
}

Worker::~Worker() { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

bool Worker::decode(const SatinNvjpegJob& job) try {
  const nvjpegOutputFormat_t format = job.channels == 1 ? NVJPEG_OUTPUT_Y : NVJPEG_OUTPUT_RGBI;
  check(nvjpegDecodeParamsSetOutputFormat(parameters_.get(), format), "choosing the format");
  if (!parsed(job)) return false;
  const Engine* engine = engine_for(job);
  if (engine == nullptr) return false;
  run(*engine, job);
  return true;
} catch (Failure& failure) {
  failure.lost = cudaStreamSynchronize(stream_.get()) != cudaSuccess;
  throw;
}

bool Worker::parsed(const SatinNvjpegJob& job) {
  const nvjpegStatus_t status =
      nvjpegJpegStreamParse(library_.handle(), job.data, job.size, 0, 0, file_.get());
  if (refuses(status)) return false;
  check(status, "reading the headers");
  unsigned width = 0;
  unsigned height = 0;
  unsigned components = 0;
  nvjpegChromaSubsampling_t sampling = NVJPEG_CSS_UNKNOWN;
  check(nvjpegJpegStreamGetFrameDimensions(file_.get(), &width, &height), "asking for the size");
  check(nvjpegJpegStreamGetComponentsNum(file_.get(), &components), "asking for the components");
  check(nvjpegJpegStreamGetChromaSubsampling(file_.get(), &sampling), "asking for the sampling");
  return width == static_cast<unsigned>(job.width) && height == static_cast<unsigned>(job.height) &&
         components == static_cast<unsigned>(job.channels) && sampling != NVJPEG_CSS_UNKNOWN;
}

const Engine* Worker::engine_for(const SatinNvjpegJob& job) {
  const bool small = std::int64_t{job.width} * job.height < large_picture;
  for (const Engine& engine : library_.engines()) {
    if (library_.chooses() && small && engine.backend == NVJPEG_BACKEND_GPU_HYBRID) continue;
    int refusal = 1;  // nvJPEG answers 0 for yes
    const nvjpegStatus_t status =
        nvjpegDecoderJpegSupported(engine.decoder.get(), file_.get(), parameters_.get(), &refusal);
    if (status == NVJPEG_STATUS_SUCCESS && refusal == 0) return &engine;
  }
  return nullptr;
}

void Worker::run(const Engine& engine, const SatinNvjpegJob& job) {
  const auto index = static_cast<std::size_t>(&engine - library_.engines().data());
  const nvjpegHandle_t handle = library_.handle();
  const nvjpegJpegDecoder_t decoder = engine.decoder.get();
  const nvjpegJpegState_t state = states_[index].get();
  const std::size_t bytes = row_bytes(job) * static_cast<std::size_t>(job.height);
  nvjpegImage_t target{};
  target.channel[0] = pixels_.at_least(bytes);
  target.pitch[0] = row_bytes(job);
  check(nvjpegDecodeJpegHost(handle, decoder, state, parameters_.get(), file_.get()), "decoding on the host");
  check(nvjpegDecodeJpegTransferToDevice(handle, decoder, state, file_.get(), stream_.get()),
        "sending a file to the GPU");
  check(nvjpegDecodeJpegDevice(handle, decoder, state, &target, stream_.get()), "decoding on the GPU");
  check(cudaMemcpyAsync(job.pixels, target.channel[0], bytes, cudaMemcpyDeviceToHost, stream_.get()),
        "copying a picture from the GPU");
  check(cudaEventRecord(done_.get(), stream_.get()), "waiting for the GPU");
  check(cudaEventSynchronize(done_.get()), "waiting for the GPU");
}

}  // namespace satin::nvjpeg
