// People bring words from other programs. Here each is given the filter of Satin that does what it means.

#include <array>
#include <cctype>

#include "satin/filter.h"

namespace satin {
namespace {

struct Advice {
  std::string_view words;  ///< between spaces
  std::string_view sentence;
};

constexpr std::array advices = {
    Advice{"gaussian gauss gaussianblur gaussianfilter", "'satin blur --sigma 6' is a gaussian blur."},
    Advice{"box boxblur boxfilter mean average soften uniform fastblur",
           "'satin blur' is the mean over a window."},
    Advice{"motionblur motion", "'satin blur --radius 20x0' smears along one axis."},
    Advice{"sharpen sharp sharpening sharpness unsharpmask clarity", "'satin unsharp' sharpens."},
    Advice{"bokeh lens lensblur depth depthoffield depthblur portrait refocus focus background",
           "'satin dof' is depth of field."},
    Advice{"miniature toy", "'satin tilt-shift' makes miniatures."},
    Advice{"despeckle denoise noise percentile rank salt medianblur medianfilter",
           "'satin median' removes specks."},
    Advice{"binarize binarise binarization binary otsu sauvola niblack bradley adaptive adaptivethreshold "
           "ocr monochrome",
           "'satin threshold' makes black and white."},
    Advice{"pixelate pixelize pixellate mosaic anonymize anonymise censor blackout hide cover",
           "'satin redact' hides parts of a picture; '--method mosaic' in blocks."},
    Advice{"bilateral bilateralfilter surfaceblur domaintransform",
           "'satin edge-smooth' smooths up to edges."},
    Advice{"contrast clahe equalize equalise autocontrast levels",
           "'satin stretch' raises local contrast, 'satin normalize' evens light out."},
    Advice{"histogram identify statistics",
           "'satin stats' counts values, 'satin info' says what is in a file."},
    Advice{"label labels components connectedcomponents contours blobs count rle",
           "'satin regions' measures connected areas."},
    Advice{"sat summedarea summedareatable integralimage cumsum",
           "'satin integral' makes summed-area tables."},
    Advice{"minimum min erosion opening open morphology morph",
           "'satin erode' is the minimum; 'satin mask --open 3' opens."},
    Advice{"maximum max dilation closing close",
           "'satin dilate' is the maximum; 'satin mask --close 3' closes."},
    Advice{"std deviation variance stddev", "'satin local-deviation' is the deviation around each pixel."},
    Advice{
        "resize scale thumbnail crop rotate flip flop convert compress pad trim",
        "Satin filters and leaves the size alone; ImageMagick ('convert') and libvips ('vips') change it."},
    Advice{"grey gray greyscale grayscale negate invert brightness gamma saturation hue vignette colorize "
           "montage composite",
           "Satin does not change colours; ImageMagick ('convert') and libvips ('vips') do."},
    Advice{"canny edge edges sobel laplacian gradient emboss",
           "Satin finds no edges; 'satin local-deviation' is bright where a picture is busy."},
    Advice{"inpaint heal clone",
           "Satin fills no holes in pictures; GIMP ('heal') and OpenCV ('inpaint') do."},
    Advice{"exif metadata format formats", "'satin info' says what a file holds."},
    Advice{"filters commands options usage", "'satin --help' lists filters and commands."},
};

}  // namespace

std::string advice_for(std::string_view word) {
  if (word.empty() || word.find(' ') != std::string_view::npos) return "";
  std::string plain;
  for (const char letter : word)
    if (letter != '-' && letter != '_')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const Advice& advice : advices)
    if ((" " + std::string(advice.words) + " ").find(" " + plain + " ") != std::string::npos)
      return std::string(advice.sentence);
  return "";
}

}  // namespace satin
