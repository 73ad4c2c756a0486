#ifndef SATIN_C_API_H
#define SATIN_C_API_H
/* Satin for C: opens a device, lists the filters, and runs one or several of them on pictures in memory.
 * Prepared plans, files, regions and scans are available in C++ only.
 *
 * Functions that may fail return a satin_status, and satin_last_error() returns the message. Several threads
 * may call any function at once. Text is UTF-8 and zero-terminated. Returned text and tables belong to the
 * library and remain valid as long as it is loaded, unless a function says otherwise. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Outcome of a call. The numbers 1 to 3 are the command's exit codes. */
typedef enum satin_status {
  SATIN_OK = 0,          /**< success */
  SATIN_INPUT = 1,       /**< the picture cannot be processed: NaN, values out of range */
  SATIN_USAGE = 2,       /**< a name, a range, a shape or a combination that the caller can correct */
  SATIN_ENVIRONMENT = 3, /**< no such device, no memory */
  SATIN_CANCELLED = 4    /**< cancelled by the caller */
} satin_status;

/** The type of one channel of one pixel. */
typedef enum satin_type {
  SATIN_U8 = 0,  /**< unsigned, 8 bits */
  SATIN_U16 = 1, /**< unsigned, 16 bits */
  SATIN_U32 = 2, /**< unsigned, 32 bits, for tables */
  SATIN_U64 = 3, /**< unsigned, 64 bits, for tables */
  SATIN_I32 = 4, /**< signed, 32 bits */
  SATIN_F32 = 5, /**< IEEE single precision */
  SATIN_F64 = 6  /**< IEEE double precision, for tables */
} satin_type;

/** Meaning of the last channel of a picture with 2 or 4 channels. */
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
  int64_t frames;         /**< number of pictures of this size, in a batch */
  int32_t channels;       /**< 1 to 4 */
  int32_t type;           /**< type of every channel: a satin_type */
  int32_t alpha;          /**< meaning of the last channel: a satin_alpha */
  int32_t order;          /**< order of the colours: a satin_order */
  int32_t memory;         /**< where the bytes are: a satin_memory */
  int64_t pixel_stride;   /**< to the pixel at the right */
  int64_t row_stride;     /**< to the pixel below */
  int64_t channel_stride; /**< to the next channel of the pixel */
  int64_t frame_stride;   /**< to the pixel in the next picture */
} satin_view;

/** A side input: the setting `mask=soft` uses the view named "soft". */
typedef struct satin_named_view {
  const char* name; /**< name that the setting uses */
  satin_view view;  /**< the pixels */
} satin_named_view;

/** One parameter of a filter. */
typedef struct satin_parameter {
  const char* name;           /**< "radius-max": the setting is radius-max=... */
  const char* unit;           /**< "px"; empty if it has none */
  const char* help;           /**< one line */
  const char* default_text;   /**< default; empty: not set */
  double minimum;             /**< smallest number, or -infinity */
  double maximum;             /**< largest number, or infinity */
  const char* const* choices; /**< valid names of a choice; words that a number accepts besides */
  int32_t choice_count;       /**< number of `choices`; 0 for other kinds of parameters */
} satin_parameter;

/** One side input of a filter. */
typedef struct satin_input {
  const char* name; /**< "mask": the setting is mask=NAME */
  const char* help; /**< one line */
  int32_t required; /**< 1 if the filter needs it, otherwise 0 */
} satin_input;

/** Description of a filter. */
typedef struct satin_filter {
  const char* name;                  /**< "edge-smooth" */
  const char* category;              /**< heading in the list of filters */
  const char* help;                  /**< one line */
  const char* paper;                 /**< author, title, year; empty if there is none */
  const satin_parameter* parameters; /**< parameters in the order of the help */
  int32_t parameter_count;           /**< how many */
  const satin_input* inputs;         /**< side inputs */
  int32_t input_count;               /**< how many */
} satin_filter;

/** An open device; see satin::Device. */
typedef struct satin_device satin_device;

/** Returns the version of the library, such as "0.2.0". */
const char* satin_version(void);

/** Returns the message of the last failed call on this thread: what happened, where, and what to do. Empty
 * before the first failure; valid until this thread's next failure. */
const char* satin_last_error(void);

/** Opens `auto` (the first usable GPU, otherwise the CPU), `cpu` or `cuda:N`. Fails with SATIN_ENVIRONMENT if
 * the device cannot be used, and with SATIN_USAGE for any other text; `*device` is then null. */
satin_status satin_open(const char* name, satin_device** device);

/** Closes the device. Accepts null. */
void satin_close(satin_device* device);

/** Returns the name of the device, such as "cpu" or "cuda:0". Valid until the device is closed. */
const char* satin_device_name(const satin_device* device);

/** Returns all filters and sets `*count` to their number, or to 0 if there is no memory for the list. */
const satin_filter* satin_filters(int32_t* count);

/** Returns a view of densely packed, interleaved pixels in host memory. */
satin_view satin_view_of(void* data, int64_t width, int64_t height, int32_t channels, int32_t type);

/** Sets `*output` to the shape that satin_run() needs for this picture: a densely packed view without data in
 * the picture's memory. Fails as satin_run(), except for errors that depend on the pixels. */
satin_status satin_output_view(satin_device* device, const char* pipeline, const satin_view* picture,
                               const satin_named_view* sides, int32_t side_count, satin_view* output);

/** Runs one or several filters, written as "blur radius=8 | unsharp amount=0.5", and waits for the result.
 * `sides` are the pictures that settings name. `output` has the shape that satin_output_view() returns and
 * any strides. It may be the picture itself if that is interleaved; otherwise views must not overlap.
 * `stream` is a cudaStream_t or null. */
satin_status satin_run(satin_device* device, const char* pipeline, const satin_view* picture,
                       const satin_named_view* sides, int32_t side_count, const satin_view* output,
                       void* stream);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
