/* report_priv.h - what the files of src/report share. */
#ifndef MG_REPORT_PRIV_H
#define MG_REPORT_PRIV_H
#include "report/report.h"

/* The pieces that records and report files are made of. */
bool mg__json_device(struct mg_strbuf *out, const struct mg_report_device *device);
#endif
