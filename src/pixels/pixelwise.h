#pragma once
// Operations on each pixel alone: their steps are functors that host and device share, and every backend has
// one class for all of them (pixels/cpu/pixelwise.h, pixels/cuda/pixelwise.h).
//
// A job of such an operation has
//   doing                            for messages: "comparing a picture with a level"
//   Images                           the views of one run
//   each(images, transfer, launch)   the steps of one run in their order. launch(width, height, step) calls
//                                    step(x, y) for every place of a plane, in any order, or row(x) of
//                                    row = step.row(y), which has what is the same for a row
//   codes()                          where steps need transfer tables: those of which codes

#include "core/operation.h"
#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"

namespace satin {

template <class Job>
struct PixelwiseOperation : Operation {
  virtual void run(const typename Job::Images& images, Stream stream) = 0;
};

/// What transfer tables are asked for by.
struct StoredCodes {
  Type type = Type::u8;
  Transfer transfer = Transfer::identity;
};

/// The tables that a job needs: table(type, srgb) of a backend, or none.
template <class Job, class Table>
[[nodiscard]] TransferView pixelwise_transfer(const Job& job, const Table& table) {
  if constexpr (requires { job.codes(); })
    return table(job.codes().type, job.codes().transfer == Transfer::srgb);
  else
    return {};
}

}  // namespace satin
