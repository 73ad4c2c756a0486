#pragma once
// Pictures in SVG: the measurements, and the networks of two algorithms.

#include <ostream>
#include <string>
#include <vector>

#include "measure.h"

namespace study {

/// Time and operations per value against n, both axes logarithmic. The times of a GPU, if there are any, are
/// drawn beside those of the CPU.
void plot(std::ostream& out, const std::vector<Measurement>& rows, const std::vector<GpuTime>& gpu_rows);

/// Who adds what to what, step by step, from what the machine saw: "hillis_steele" or "blelloch", with eight
/// elements. Throws std::invalid_argument for another name.
void draw_network(std::ostream& out, const std::string& name);

}  // namespace study
