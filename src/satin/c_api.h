#ifndef SATIN_C_API_H
#define SATIN_C_API_H
/* Satin for C: opens a device, lists the filters, and runs one or several of them on pictures in memory, once
 * or by a plan that is prepared for many pictures. Files, regions and scans are available in C++ only.
 *
 * Functions that may fail return a satin_status, and satin_last_error() returns the message. Several threads
 * may call any function at once, but only one at a time may use a satin_plan. Text is UTF-8 and
 * zero-terminated. Returned text and tables belong to the library and remain valid as long as it is loaded,
 * unless a function says otherwise.
 *
 * Before version 1.0 every minor version has a soname of its own, and programs are compiled again for it. It
 * adds members at the end of the structs that the library fills; numbers of enums keep their meaning, and the
 * structs that callers fill keep their layout. */

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

/** Syntax of a parameter's text. */
typedef enum satin_kind {
  SATIN_REAL = 0,         /**< "2.5" */
  SATIN_REALS = 1,        /**< "1,2.5,30" */
  SATIN_INTEGER = 2,      /**< "3" */
  SATIN_LENGTH = 3,       /**< "8" or "1.5%" */
  SATIN_FLAG = 4,         /**< "true" or "false" */
  SATIN_CHOICE = 5,       /**< one of the choices */
  SATIN_RADIUS = 6,       /**< "8", "8x2" or "1.5%" */
  SATIN_BOXES = 7,        /**< "X,Y,W,H;X,Y,W,H" */
  SATIN_COLOUR = 8,       /**< "#ff8000" */
  SATIN_POINT = 9,        /**< "320,200" or "50%,50%" */
  SATIN_RANGE = 10,       /**< "A:B" */
  SATIN_SIZE = 11,        /**< "1600", "50%", "1200x630", "1200x" or "x630" */
  SATIN_PICTURE_BOX = 12, /**< "X,Y,W,H", numbers in pixels or percent */
  SATIN_RATIO = 13        /**< "A:B" */
} satin_kind;

/** Meaning of a parameter to programs that know no filter. */
typedef enum satin_role {
  SATIN_ROLE_OWN = 0,      /**< no meaning outside the filter */
  SATIN_ROLE_STRENGTH = 1, /**< how strongly the filter acts */
  SATIN_ROLE_SPACE = 2,    /**< selects linear light or stored values */
  SATIN_ROLE_DEPTH_SOURCE =
      3, /**< selects the file that depth comes from; no meaning for pictures in memory */
  SATIN_ROLE_DEPTH_CHANNEL = 4, /**< selects the channel of a picture that is depth */
  SATIN_ROLE_MAY_VANISH = 5     /**< flag: allows the target to lie outside the picture */
} satin_role;

/** Meaning of a side input. */
typedef enum satin_input_role {
  SATIN_INPUT_RADIUS_MAP = 0, /**< a radius for every pixel */
  SATIN_INPUT_MASK = 1,       /**< how strongly the filter acts on every pixel */
  SATIN_INPUT_DEPTH = 2,      /**< distance or its inverse */
  SATIN_INPUT_GUIDE = 3,      /**< a picture whose edges the filter follows */
  SATIN_INPUT_APERTURE = 4,   /**< the opening of a lens, of any size */
  SATIN_INPUT_SUBJECT = 5     /**< a mask of the subject, whose edge depth follows */
} satin_input_role;

/** Kind of a filter's result. */
typedef enum satin_output {
  SATIN_OUTPUT_IMAGE = 0, /**< a picture like the input */
  SATIN_OUTPUT_TABLE = 1, /**< numbers */
  SATIN_OUTPUT_JSON = 2   /**< text that describes the picture; satin_run() refuses it */
} satin_output;

/** How the shape of a result follows from the picture's, whatever the settings. */
typedef enum satin_shape {
  SATIN_SHAPE_SAME = 0, /**< the picture's */
  SATIN_SHAPE_GREY = 1, /**< the picture's size, with one channel of 8 bits */
  SATIN_SHAPE_OTHER = 2 /**< another size, another type, or no picture */
} satin_shape;

/** Values that a filter computes with unless told. */
typedef enum satin_space {
  SATIN_LINEAR = 0, /**< linear light */
  SATIN_ENCODED = 1 /**< values as stored */
} satin_space;

/** How the values of a slider follow its position. */
typedef enum satin_scale {
  SATIN_SCALE_LINEAR = 0,     /**< equal steps add the same amount */
  SATIN_SCALE_LOGARITHMIC = 1 /**< equal steps multiply; from 0 or less, beyond a hundredth of the range */
} satin_scale;

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
  int32_t kind;               /**< syntax of its text: a satin_kind */
  int32_t role;               /**< meaning: a satin_role */
  int32_t whole;              /**< 1 if a number must be whole */
  int32_t odd;                /**< 1 if a whole number must be odd */
  const char* instead_of;     /**< parameter that must not be set with this one; empty if there is none */
  int32_t may_be_unset;       /**< 1 if it can be without a value; in C++ an empty text says so */
  double unset_number;        /**< number for "not set" in programs that know only numbers; never a valid one,
                                   unless the minimum is negative: then it is the minimum */
  double usual_minimum;       /**< smallest number of a slider; 0 as the maximum for what is no number */
  double usual_maximum;       /**< largest number of a slider */
  int32_t scale;              /**< how the slider's values follow its position: a satin_scale */
  const char* group;          /**< section of a form: main; lens-shape; more, for what is rarely changed */
  int32_t rank;               /**< order in the group; equal ranks: as in the list */
} satin_parameter;

/** One side input of a filter. */
typedef struct satin_input {
  const char* name;  /**< "mask": the setting is mask=NAME */
  const char* help;  /**< one line */
  int32_t required;  /**< 1 if the filter needs it, otherwise 0 */
  int32_t role;      /**< meaning: a satin_input_role */
  const char* group; /**< section of a form, before parameters of rank 0 */
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
  int32_t output;                    /**< kind of the result: a satin_output */
  int32_t shape;                     /**< shape of the result: a satin_shape */
  int32_t space;                     /**< default space of the computation: a satin_space */
} satin_filter;

/** An open device; see satin::Device. */
typedef struct satin_device satin_device;

/** A pipeline prepared for pictures of one shape; see satin::PipelinePlan. */
typedef struct satin_plan satin_plan;

/** Called during long work with the share that is done, above 0 and up to 1, and the context of
 * satin_plan_watch(). Returns 0 to cancel the rest, otherwise 1. */
typedef int32_t (*satin_progress)(double done, void* context);

/** Returns the version of the library, such as "0.2.0". */
const char* satin_version(void);

/** Returns the message of the last failed call on this thread: what happened, where, and what to do. Empty
 * before the first failure; valid until this thread's next failure. */
const char* satin_last_error(void);

/** Opens `auto` (the first usable GPU, otherwise the CPU), `cpu` or `cuda:N`. Fails with SATIN_ENVIRONMENT if
 * the device cannot be used, and with SATIN_USAGE for any other text; `*device` is then null. */
satin_status satin_open(const char* name, satin_device** device);

/** Opens a device as satin_open(), with at most this number of threads on the CPU; 0: all that the process
 * may use; 1: every run stays on the calling thread. */
satin_status satin_open_threads(const char* name, int32_t threads, satin_device** device);

/** Closes the device. Plans that were made on it remain usable. Accepts null. */
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

/** Sets `*x` and `*y` to how far from a pixel the pipeline reads along each axis, in pixels, so that chunks
 * of the picture which overlap by that much give the bytes of the whole; see satin::local_reach(). Fails with
 * SATIN_USAGE and the reason where the picture cannot be cut. */
satin_status satin_reach(satin_device* device, const char* pipeline, const satin_view* picture,
                         const satin_named_view* sides, int32_t side_count, int64_t* x, int64_t* y);

/** Prepares a pipeline for pictures and sides of these shapes, whose data may be null. The plan holds the
 * memory that running needs. Fails as satin_output_view(); `*plan` is then null. */
satin_status satin_plan_make(satin_device* device, const char* pipeline, const satin_view* picture,
                             const satin_named_view* sides, int32_t side_count, satin_plan** plan);

/** Sets `*output` to the shape that satin_plan_run() needs: a densely packed view without data in host
 * memory. */
satin_status satin_plan_output(const satin_plan* plan, satin_view* output);

/** Changes the settings of the following runs. Filters, names of sides and shapes must be as planned. What
 * satin::Plan::vary() supports, such as focus and strength of `dof`, changes at once; everything else is
 * planned again. If it fails, the plan keeps its settings. */
satin_status satin_plan_set(satin_plan* plan, const char* pipeline);

/** Runs the plan as satin_run() and waits. Fails with SATIN_CANCELLED if the function of satin_plan_watch()
 * returned 0; the output is then unspecified, and the plan may run again. */
satin_status satin_plan_run(satin_plan* plan, const satin_view* picture, const satin_named_view* sides,
                            int32_t side_count, const satin_view* output, void* stream);

/** Makes the following runs call `progress` with `context`, from the thread that runs the plan; see
 * satin::Plan::watch(). Null stops the calls. */
satin_status satin_plan_watch(satin_plan* plan, satin_progress progress, void* context);

/** Destroys the plan. Accepts null. */
void satin_plan_destroy(satin_plan* plan);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
