// ls-bh-sound: ls-bh with further fences, for those who wait.
#define SOUND
#include "ls-bh.cu"
