/* status.c - names and meanings of enum mg_status: part of the public interface, and of every record. Alone in its
 * file, so that linking it brings nothing else along; visible, so that libmargay.so exports it. */
#include "report/report.h"

static const struct {
    const char *name, *text;
} statuses[] = {
#define STATUS(id, text) [MG_##id] = {"MG_" #id, text}
    STATUS(OK, "success"),
    STATUS(ERR_NOMEM, "the host is out of memory"),
    STATUS(ERR_INVALID, "an argument is wrong"),
    STATUS(ERR_NOT_FOUND, "there is nothing of that name"),
    STATUS(ERR_SYNTAX, "the PTX text or the fatbin does not parse"),
    STATUS(ERR_UNSUPPORTED, "not simulated"),
    STATUS(ERR_NO_PTX, "the program holds machine code only, and no PTX"),
    STATUS(ERR_LAUNCH_LIMIT, "more threads, registers or shared memory than the device has"),
    STATUS(ERR_ADDRESS, "a kernel touched memory that is not allocated"),
    STATUS(ERR_MISALIGNED, "a kernel touched memory at a misaligned address"),
    STATUS(ERR_ASSERT, "a device-side assert failed"),
    STATUS(ERR_TRAP, "a kernel executed a trap"),
    STATUS(ERR_DEADLOCK, "no warp of the launch can go on"),
    STATUS(ERR_TIMEOUT, "the launch outran its time limit"),
    STATUS(ERR_IO, "a file could not be read or written"),
    STATUS(ERR_INTERNAL, "a defect of Margay"),
#undef STATUS
};

__attribute__((visibility("default"))) const char *mg_status_name(enum mg_status status)
{
    return (unsigned)status < MG_COUNT(statuses) ? statuses[status].name : "MG_ERR_INTERNAL";
}

__attribute__((visibility("default"))) const char *mg_status_text(enum mg_status status)
{
    return (unsigned)status < MG_COUNT(statuses) ? statuses[status].text : "a defect of Margay";
}
