#pragma once
// Operations that compute each pixel from the same pixel of their inputs. Their steps are functors that host
// and device share; every backend has one class for all of them (pixels/cpu/pixelwise-inl.h,
// pixels/cuda/pixelwise.h).
//
// A job of such an operation has
//   doing                            a phrase for messages: "comparing a picture with a level"
//   Images                           the views of one run
//   each(images, transfer, launch)   calls launch(width, height, step) for each step of a run, in order. The
//                                    backend calls step(x, y) for every pixel of a plane, in any order; or,
//                                    if the step has row(y), row(x) of row = step.row(y), which holds the
//                                    constants of a row
//   codes()                          optional: the stored type and transfer whose tables the steps need

#include "core/operation.h"
#include "pixels/maths/pixel.h"
#include "pixels/pixels.h"

namespace satin {

template <class Job>
struct PixelwiseOperation : Operation {
  virtual void run(const typename Job::Images& images, Stream stream) = 0;
};

/// The type and transfer of stored values, which select transfer tables.
struct StoredCodes {
  Type type = Type::u8;
  Transfer transfer = Transfer::identity;
};

/// Returns the tables that a job needs, from table(type, srgb) of a backend, or none.
template <class Job, class Table>
[[nodiscard]] TransferView pixelwise_transfer(const Job& job, const Table& table) {
  if constexpr (requires { job.codes(); })
    return table(job.codes().type, job.codes().transfer == Transfer::srgb);
  else
    return {};
}

}  // namespace satin
