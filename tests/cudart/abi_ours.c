/* Our half of test_abi: the two headers define the same names and cannot meet in one file. */
#include "cudart/abi.h"

#define SIZE(a, b) sizeof(a),
#define FIELD(a, f, b, g) offsetof(a, f),
#define SAME_FIELD(f) offsetof(struct cu_prop_13, f),
const size_t abi_ours[] = {
#include "cudart/abi.def"
};

const size_t abi_ours_12[] = {sizeof(struct cu_prop_12), offsetof(struct cu_prop_12, memoryClockRate),
                              offsetof(struct cu_prop_12, sharedMemPerBlockOptin),
                              offsetof(struct cu_prop_12, unifiedFunctionPointers)};
