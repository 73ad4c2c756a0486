#pragma once
// Pictures in SVG: the measurements, and the networks of two algorithms.

#include <ostream>
#include <string>
#include <vector>

#include "measure.h"

namespace study {

/// Draws time and operations per value against n, on logarithmic axes, for the CPU and, if there is one, the
/// GPU.
void plot(std::ostream& out, const std::vector<Measurement>& rows, const std::vector<GpuTime>& gpu_rows);

/// Draws the additions of "hillis_steele" or "blelloch" on eight elements, step by step, as Counting recorded
/// them. Throws std::invalid_argument for another name.
void draw_network(std::ostream& out, const std::string& name);

}  // namespace study
