/* Satin from C: the list of filters, a pipeline on a picture with a mask, and an error. */

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

  if (satin_run(device, "blurr", &in, NULL, 0, &out, NULL) != SATIN_USAGE)
    return fail("a name that is wrong");
  if (strstr(satin_last_error(), "Did you mean 'blur'?") == NULL) return fail("the message");

  satin_close(device);
  return 0;
}
