// sdk-red-sound: sdk-red with a second fence, between counting and reading.
#define SOUND
#include "sdk-red.cu"
