// Separates ink from paper in the photograph of a page under uneven light: threshold_page PAGE OUTPUT

#include <satin/error.h>
#include <satin/filters/threshold.h>
#include <satin/io.h>

#include <algorithm>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "threshold_page PAGE OUTPUT\n";
    return 2;
  }
  try {
    const satin::Device device = satin::Device::open();
    const satin::Image page = satin::read_image(argv[1]);
    // About three lines of text high: the light is even in such a window, and it always holds paper
    const auto window = static_cast<int>(std::max(page.shape().width, page.shape().height) / 40) * 2 + 1;
    const satin::Image ink = satin::threshold(device, page, {.window = window});
    satin::write_image(argv[2], ink, {.overwrite = true});
  } catch (const satin::Error& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
