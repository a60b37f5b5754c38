/* found.c - findings that are no occurrence in a launch: the host's calls, streams, what was copied out. */
#include "check/check_priv.h"

static void tell(struct mg_check *check, enum check_kind kind, const char *kernel, struct mg_report_finding f,
                 const char *format, va_list args)
{
    char text[512];
    vsnprintf(text, sizeof(text), format, args);
    char *name = kernel ? mg__report_demangle(kernel) : NULL;
    f.check = mg__kinds[kind].check;
    f.kind = mg__kinds[kind].name;
    f.severity = mg__kinds[kind].severity;
    f.kernel = name;
    f.mangled = kernel;
    f.count = 1;
    f.message = text;
    f.advice = f.advice ? f.advice : mg__kinds[kind].advice;
    check->found(check->arg, &f);
    free(name);
}

/* What a kernel copied, and now the host copies out: the read that it began with. */
void mg__find_copied(struct mg_check *check, enum place_kind place, struct mg_report_finding f)
{
    enum check_kind kind = mg__define_kind(place);
    struct mg_strbuf message = {0};
    f.kind = mg__kinds[kind].name;
    f.severity = mg__kinds[kind].severity;
    f.advice = mg__kinds[kind].advice;
    if (mg__strbuf_printf(&message, "%s, and the host copies it out", f.message)) {
        f.message = message.at;
        check->found(check->arg, &f);
    }
    mg__strbuf_free(&message);
}

void mg__check_asks(struct mg_check *check, const struct mg_check_asked *asked)
{
    check->asked = asked;
}

/* It takes some 10 ms to find: a call in a loop is not looked for again and again. */
enum { LOCATED_MOST = 64 };

void mg__find_host(struct mg_check *check, enum check_kind kind, const char *kernel, const char *variable,
                   const char *format, ...)
{
    va_list args;
    char file[1024] = "";
    const bool under_way = kind != KIND_BOUNDS_LEAK; /* which is found at the end */
    const bool asks = under_way && check->asked && check->located < LOCATED_MOST;
    const uint32_t line = asks ? check->asked->line(file, sizeof(file)) : 0;
    check->located += asks;
    check->told = under_way;
    va_start(args, format);
    tell(check, kind, kernel,
         (struct mg_report_finding){.variable = variable, .file = line ? file : NULL, .line = line}, format, args);
    va_end(args);
}

uint32_t mg__find_line(struct mg_check *check, void *const *frames, int n, char *file, size_t size)
{
    file[0] = 0;
    return n && check->asked && check->located++ < LOCATED_MOST ? check->asked->line_of(frames, n, file, size) : 0;
}

void mg__find_at(struct mg_check *check, enum check_kind kind, const char *kernel, struct mg_report_finding at,
                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tell(check, kind, kernel, at, format, args);
    va_end(args);
}
