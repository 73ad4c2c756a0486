// Depth of field from a picture and its distances in metres, stored as floats (PFM, TIFF, EXR) by a renderer
// or a depth network: focus_by_depth PICTURE DEPTH OUTPUT X Y

#include <satin/error.h>
#include <satin/filters/dof.h>
#include <satin/io.h>
#include <satin/param.h>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "focus_by_depth PICTURE DEPTH OUTPUT X Y\n";
    return 2;
  }
  try {
    const satin::Device device = satin::Device::open();
    const satin::Image picture = satin::read_image(argv[1]);
    const satin::Image depth = satin::read_image(argv[2]);

    satin::Dof dof;
    dof.depth = depth;
    dof.lens.depth_kind = satin::DepthKind::depth;
    dof.lens.focus_at =
        satin::Point{{satin::parse_real("X", argv[4], 0, 1e9)}, {satin::parse_real("Y", argv[5], 0, 1e9)}};
    dof.lens.f_number = 1.8;
    dof.lens.focal_length = 50;  // mm, on a full frame that is 36 mm wide
    const satin::Image result = satin::dof(device, picture, dof);
    satin::write_image(argv[3], result, {.overwrite = true});
  } catch (const satin::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
