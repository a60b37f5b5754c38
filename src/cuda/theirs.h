/* theirs.h - NVIDIA's own library, behind one of ours of the same name. */
#ifndef MG_CUDA_THEIRS_H
#define MG_CUDA_THEIRS_H

/* Opens FILE ("libnvrtc.so.13") where it is installed: in the Python packages beside any that the process has loaded
 * (`wheels`: folders in site-packages, ending in NULL), in $CUDA_HOME, $CUDA_PATH, the folders of LD_LIBRARY_PATH and
 * /usr/local/cuda. Never the library that calls. NULL: it is nowhere. */
void *mg__theirs_open(const char *file, const char *const *wheels);
#endif
