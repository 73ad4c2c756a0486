#ifndef SATIN_C_API_H
#define SATIN_C_API_H
/* Satin for C: open a device, look at the filters, run one or several of them on pictures in memory. What
 * C++ offers beyond that (plans that are kept, files, regions, scans) is not here.
 *
 * Functions that may fail return a satin_status; satin_last_error() then has the message. Any function may be
 * called by several threads at once. Text is UTF-8 and ends with a zero; what is returned belongs to the
 * library and stays as long as it is loaded, unless a function says otherwise. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** What has become of a call: the numbers are those of satin::ErrorKind and of the command's exit codes. */
typedef enum satin_status {
  SATIN_OK = 0,          /**< done */
  SATIN_INPUT = 1,       /**< the picture cannot be processed: NaN, values out of range */
  SATIN_USAGE = 2,       /**< a name, a range, a shape or a combination that the caller can correct */
  SATIN_ENVIRONMENT = 3, /**< no such device, no memory */
  SATIN_CANCELLED = 4    /**< ended by the caller */
} satin_status;

/** The type of one channel of one pixel. */
typedef enum satin_type {
  SATIN_U8 = 0,  /**< 8 bits, unsigned */
  SATIN_U16 = 1, /**< 16 bits, unsigned */
  SATIN_U32 = 2, /**< 32 bits, unsigned: of tables */
  SATIN_U64 = 3, /**< 64 bits, unsigned: of tables */
  SATIN_I32 = 4, /**< 32 bits, signed */
  SATIN_F32 = 5, /**< a float */
  SATIN_F64 = 6  /**< a double: of tables */
} satin_type;

/** What the last channel of a picture of 2 or 4 channels means. */
typedef enum satin_alpha {
  SATIN_ALPHA_NONE = 0,         /**< a channel like the others */
  SATIN_ALPHA_STRAIGHT = 1,     /**< opacity; colours are not multiplied by it */
  SATIN_ALPHA_PREMULTIPLIED = 2 /**< opacity; colours are multiplied by it */
} satin_alpha;

/** The order of the colours. */
typedef enum satin_order {
  SATIN_RGB = 0, /**< red first */
  SATIN_BGR = 1  /**< blue first */
} satin_order;

/** Where the bytes of a view are. */
typedef enum satin_memory {
  SATIN_HOST = 0,  /**< readable by the CPU */
  SATIN_DEVICE = 1 /**< memory of the CUDA device that the view is used with */
} satin_memory;

/** A view of pixels that the caller keeps alive. Distances are in bytes and may be negative. */
typedef struct satin_view {
  void* data;             /**< pixel (0, 0), channel 0, frame 0; null: no picture */
  int64_t width;          /**< pixels */
  int64_t height;         /**< pixels */
  int64_t frames;         /**< pictures of this size, in a batch */
  int32_t channels;       /**< 1 to 4 */
  int32_t type;           /**< of every channel: a satin_type */
  int32_t alpha;          /**< of the last channel: a satin_alpha */
  int32_t order;          /**< of the colours: a satin_order */
  int32_t memory;         /**< where the bytes are: a satin_memory */
  int64_t pixel_stride;   /**< to the pixel at the right */
  int64_t row_stride;     /**< to the pixel below */
  int64_t channel_stride; /**< to the next channel of the pixel */
  int64_t frame_stride;   /**< to the pixel in the next picture */
} satin_view;

/** A side input: a setting such as `mask=soft` takes the view called "soft". */
typedef struct satin_named_view {
  const char* name; /**< what the setting says */
  satin_view view;  /**< the picture */
} satin_named_view;

/** One parameter of a filter. */
typedef struct satin_parameter {
  const char* name;           /**< "radius-max": the setting is radius-max=... */
  const char* unit;           /**< "px"; empty if it has none */
  const char* help;           /**< one line */
  const char* default_text;   /**< empty: not set unless told */
  double minimum;             /**< smallest number, or -infinity */
  double maximum;             /**< largest number, or infinity */
  const char* const* choices; /**< names, where one of them is expected */
  int32_t choice_count;       /**< 0 where something else is expected */
} satin_parameter;

/** One side input of a filter. */
typedef struct satin_input {
  const char* name; /**< "mask": the setting is mask=NAME */
  const char* help; /**< one line */
  int32_t required; /**< 1: the filter cannot do without it */
} satin_input;

/** A filter, as its record describes it. */
typedef struct satin_filter {
  const char* name;                  /**< "edge-smooth" */
  const char* category;              /**< filters of one kind are listed together */
  const char* help;                  /**< one line */
  const char* paper;                 /**< author, title, year; empty if there is none */
  const satin_parameter* parameters; /**< in the order of the help */
  int32_t parameter_count;           /**< how many */
  const satin_input* inputs;         /**< side inputs, after the picture */
  int32_t input_count;               /**< how many */
} satin_filter;

/** An open device; see satin::Device. */
typedef struct satin_device satin_device;

/** "0.2.0". */
const char* satin_version(void);

/** The message of the last call of this thread that failed: what, where, and what to do. Empty before the
 * first one; valid until the next call of this thread that fails. */
const char* satin_last_error(void);

/** Opens `auto` (the first usable GPU, otherwise the CPU), `cpu` or `cuda:N`. SATIN_ENVIRONMENT tells why a
 * device cannot be used, SATIN_USAGE refuses any other text. `*device` is null unless the call succeeds. */
satin_status satin_open(const char* name, satin_device** device);

/** Closes the device; null is fine. */
void satin_close(satin_device* device);

/** What the device is called: "cpu", "cuda:0". Valid until it is closed. */
const char* satin_device_name(const satin_device* device);

/** Every filter, in the order of the list; `*count` is how many: 0 if there is no memory for the list. */
const satin_filter* satin_filters(int32_t* count);

/** A view of densely packed, interleaved pixels in host memory. */
satin_view satin_view_of(void* data, int64_t width, int64_t height, int32_t channels, int32_t type);

/** What `output` of satin_run() has to be for this picture: a view without data, densely packed, in the
 * picture's memory. Fails as satin_run() for what can be told without looking at pixels. */
satin_status satin_output_view(satin_device* device, const char* pipeline, const satin_view* picture,
                               const satin_named_view* sides, int32_t side_count, satin_view* output);

/** Runs filters one after another, written as "blur radius=8 | unsharp amount=0.5"; one filter is a pipeline
 * too. `sides` are the pictures that settings name. `output` has the shape that satin_output_view() tells and
 * any strides; it may be the picture itself if that is interleaved. Nothing else may overlap. `stream` is a
 * cudaStream_t or null. Returns when the result is there. */
satin_status satin_run(satin_device* device, const char* pipeline, const satin_view* picture,
                       const satin_named_view* sides, int32_t side_count, const satin_view* output,
                       void* stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
