/* Satin from C: the list of filters, a pipeline on a picture with a mask, a plan for many pictures, and an
 * error. */

#include <satin/c_api.h>
#include <stdio.h>
#include <string.h>

enum { width = 40, height = 30 };

static int fail(const char* what) {
  fprintf(stderr, "%s: %s\n", what, satin_last_error());
  return 1;
}

int main(void) {
  static unsigned char picture[height][width], mask[height][width], result[height][width];
  satin_named_view side;
  satin_view in, out, table;
  satin_device* device;
  satin_plan* plan;
  int32_t count, i;
  const satin_filter* filters = satin_filters(&count);

  printf("Satin %s\n", satin_version());
  for (i = 0; i < count; ++i) printf("%-16s %s\n", filters[i].name, filters[i].help);

  if (satin_open("auto", &device) != SATIN_OK) return fail("open");
  printf("on %s\n", satin_device_name(device));

  /* A white pixel in the middle; the mask lets the left half alone. */
  picture[height / 2][width / 2 + 5] = 255;
  picture[height / 2][width / 2 - 5] = 255;
  for (i = 0; i < height; ++i) memset(mask[i] + width / 2, 255, width / 2);

  in = satin_view_of(picture, width, height, 1, SATIN_U8);
  out = satin_view_of(result, width, height, 1, SATIN_U8);
  side.name = "right";
  side.view = satin_view_of(mask, width, height, 1, SATIN_U8);
  if (satin_run(device, "blur radius=1 space=encoded mask=right", &in, &side, 1, &out, NULL) != SATIN_OK)
    return fail("run");
  /* 255 over 9 pixels is 28.33. */
  for (i = -1; i <= 1; ++i)
    if (result[height / 2 + i][width / 2 + 6] != 28) return fail("the blurred half");
  if (memcmp(result[height / 2], picture[height / 2], width / 2) != 0) return fail("the other half");

  /* A table has another type than the picture: ask first. */
  if (satin_output_view(device, "integral", &in, NULL, 0, &table) != SATIN_OK) return fail("output");
  if (table.type != SATIN_U32 || table.width != width || table.data != NULL) return fail("the table's type");

  /* A plan runs often, also with other settings. */
  if (satin_plan_make(device, "blur radius=1 space=encoded", &in, NULL, 0, &plan) != SATIN_OK)
    return fail("plan");
  for (i = 1; i <= 2; ++i) {
    const char* settings = i == 1 ? "blur radius=1 space=encoded" : "blur radius=2 space=encoded";
    if (satin_plan_set(plan, settings) != SATIN_OK ||
        satin_plan_run(plan, &in, NULL, 0, &out, NULL) != SATIN_OK)
      return fail("the plan's run");
    /* 255 over 9 pixels, and over 25. */
    if (result[height / 2][width / 2 + 5] != (i == 1 ? 28 : 10)) return fail("the plan's result");
  }
  satin_plan_destroy(plan);

  if (satin_run(device, "blurr", &in, NULL, 0, &out, NULL) != SATIN_USAGE)
    return fail("a name that is wrong");
  if (strstr(satin_last_error(), "Did you mean 'blur'?") == NULL) return fail("the message");

  satin_close(device);
  return 0;
}
