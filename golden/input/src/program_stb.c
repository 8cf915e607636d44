/* Some ten thousand lines of C that are not ours: Debian's libstb-dev. */
#include <stddef.h>
#define STB_IMAGE_IMPLEMENTATION
#include <stb/stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#define STB_IMAGE_RESIZE_IMPLEMENTATION
#include <stb/stb_image_resize.h>
#define STB_RECT_PACK_IMPLEMENTATION
#include <stb/stb_rect_pack.h>
#define STB_TRUETYPE_IMPLEMENTATION
#include <stb/stb_truetype.h>
#define STB_DXT_IMPLEMENTATION
#include <stb/stb_dxt.h>
#define STB_SPRINTF_IMPLEMENTATION
#include <stb/stb_sprintf.h>
#define STB_DS_IMPLEMENTATION
#include <stb/stb_ds.h>
#define STB_PERLIN_IMPLEMENTATION
#include <stb/stb_perlin.h>
#define STB_DIVIDE_IMPLEMENTATION
#include <stb/stb_divide.h>
#define STB_HEXWAVE_IMPLEMENTATION
#include <stb/stb_hexwave.h>
#define STB_CONNECTED_COMPONENTS_IMPLEMENTATION
#define STBCC_GRID_COUNT_X_LOG2 10
#define STBCC_GRID_COUNT_Y_LOG2 10
#include <stb/stb_connected_components.h>
#include <stb/stb_vorbis.h>
