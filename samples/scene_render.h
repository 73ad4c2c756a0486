#pragma once
// Renders a scene: antialiasing with more samples where they are needed, on all cores.

#include <vector>

#include "scene.h"

namespace scene {

struct Picture {
  int width = 0, height = 0;
  std::vector<Vec3> radiance;   ///< linear, Rec. 709 primaries
  std::vector<double> depth;    ///< depth at the pixel's centre along the view axis, in metres
  std::vector<double> subject;  ///< share of each pixel that the subject covers
};

/// Renders the scene. The picture does not depend on the number of threads.
[[nodiscard]] Picture render(const Scene& scene, const Camera& camera, int width, int height,
                             unsigned threads);

}  // namespace scene
