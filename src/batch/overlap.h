#pragma once
// The files of a batch side by side: while one is filtered, others are read and written.

#include <functional>

#include "batch/file_work.h"
#include "batch/picture_memory.h"

namespace satin::batch {

/// Does the files from 0 to count - 1 and tells of each in that order, from the calling thread; `tell` gives
/// false to begin no more. `threads` read and write, 0: all that the process may use.
void run_overlapped(FileWork& work, PictureMemory& memory, std::size_t count, int threads,
                    const std::function<bool(FileInFlight& flight)>& tell);

}  // namespace satin::batch
