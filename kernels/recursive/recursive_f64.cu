#include "kernels/recursive/recursive_scan.cuh"

namespace satin::kernels {

void recursive_scan(const RecursiveScan<double>& scan, StreamHandle stream) { scan_along_axis(scan, stream); }

}  // namespace satin::kernels
