/* textures.h - the program over textures and surfaces: its text, and whether it gave what it had to. */
#ifndef ISA_TEXTURES_H
#define ISA_TEXTURES_H
#include <stdbool.h>

extern const char textures_text[];
bool textures_are_right(void);
#endif
