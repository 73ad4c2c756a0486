#include "scan/cpu/blocks.h"

#include <atomic>
#include <exception>

#include "satin/error.h"
#include "satin/host/scan.h"

namespace satin {
namespace cpu {

void for_blocks(CpuBackend& backend, std::int64_t blocks,
                const std::function<void(std::int64_t block)>& body) {
  std::atomic<bool> failed{false};
  std::exception_ptr error;  // written by the one that sets `failed`, read when all are done
  const auto run = [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t block = first; block < last && !failed.load(std::memory_order_relaxed); ++block) try {
        body(block);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
  };
  if (blocks == 1) {
    run(0, 1, 0);
  } else if (blocks > 1) {
    backend.threads.for_rows(blocks, 1, run);
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace cpu

void host::for_blocks(const Device& device, std::int64_t blocks,
                      const std::function<void(std::int64_t block)>& body) {
  if (device.is_cuda())
    throw Error(ErrorKind::usage, "Functions of satin::host run on the device cpu; this one is " +
                                      device.info().id + ": see satin/cuda/scan.cuh.");
  cpu::for_blocks(cpu::as_cpu(device.backend()), blocks, body);
}

}  // namespace satin
