/* bulk_pipeline_refilled.cu - bulk_pipeline.cu with the mistake that people make: one thread says that a stage is
 * empty for all who use it, and it is filled again while others still read.
 *
 * Look:   margay check examples/bulk_pipeline_refilled.cu
 */
#define REFILLED 1
#include "bulk_pipeline.cu"
