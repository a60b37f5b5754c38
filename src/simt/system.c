/* system.c - what kernels call and no PTX defines: vprintf, __assertfail, malloc, free,
 * cudaGraphSetConditional.
 *
 * printf's arguments lie in the thread's local memory, each aligned to its size, floats as doubles (CUDA programming
 * guide, "Formatted output"). Conversions are done one by one with the host's printf, with the length that the
 * conversion has on the device.
 */
#include "simt/simt_priv.h"

/* Bytes of any space for one lane; false: not all of them are in its memory. */
static bool peek(struct mg_warp *w, unsigned lane, uint64_t address, unsigned bytes, void *out)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_simt *s = run->simt;
    if (address - s->local_window < MG_WINDOW_SIZE) {
        uint64_t at = address - s->local_window;
        for (unsigned i = 0; at + bytes <= w->e.local_bytes && i < bytes; i++)
            ((uint8_t *)out)[i] = w->e.local[mg__local_at(at + i, lane)];
        return at + bytes <= w->e.local_bytes;
    }
    if (address - s->shared_window < MG_WINDOW_SIZE) {
        uint64_t at = address - s->shared_window;
        if (at + bytes > w->block->shared_size)
            return false;
        memcpy(out, w->block->shared + at, bytes);
        return true;
    }
    const struct mg_allocation *a = mg__snapshot_find(run, address);
    if (!a || address + bytes > a->address + a->size)
        return false;
    memcpy(out, (const void *)(uintptr_t)address, bytes);
    return true;
}

/* A string of any space, at most `limit` bytes; false when it leaves its memory. */
static bool peek_string(struct mg_warp *w, unsigned lane, uint64_t address, struct mg_strbuf *out, size_t limit)
{
    for (size_t i = 0; i < limit; i++) {
        char c;
        if (!peek(w, lane, address + i, 1, &c))
            return false;
        if (!c)
            return mg__strbuf_append(out, "", 0);
        if (!mg__strbuf_append(out, &c, 1))
            return false;
    }
    return true;
}

/* Where the next argument of a printf lies, and how many there were. */
struct arguments {
    uint64_t base, offset;
    unsigned count;
};

static bool argument(struct mg_warp *w, unsigned lane, struct arguments *args, unsigned size, uint64_t *value)
{
    args->offset = (args->offset + size - 1) / size * size;
    *value = 0;
    if (!peek(w, lane, args->base + args->offset, size, value))
        return false;
    args->offset += size;
    args->count++;
    return true;
}

/* One conversion: `spec` is "%…" up to its letter. */
static bool convert(struct mg_warp *w, unsigned lane, const char *spec, size_t length, struct arguments *args,
                    struct mg_strbuf *out)
{
    char flags[64], letter = spec[length - 1];
    size_t n = 0;
    unsigned longs = 0;
    flags[n++] = '%';
    if (length > 32) /* a width that no line has room for: as it stands */
        return mg__strbuf_append(out, spec, length);
    for (size_t i = 1; i + 1 < length && n < sizeof flags - 16; i++) {
        uint64_t star;
        if (spec[i] == 'l' || spec[i] == 'z' || spec[i] == 'j' || spec[i] == 't')
            longs++;
        else if (spec[i] == '*' && argument(w, lane, args, 4, &star))
            n += (size_t)snprintf(flags + n, sizeof flags - n, "%d", MG_MAX(MG_MIN((int)star, 4096), -4096));
        else if (spec[i] != 'h' && spec[i] != 'L' && spec[i] != '*')
            flags[n++] = spec[i];
    }
    flags[n] = 0;
    uint64_t v;
    char full[80];
    switch (letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
        if (!argument(w, lane, args, longs ? 8 : 4, &v))
            return false;
        snprintf(full, sizeof full, "%sll%c", flags, letter);
        if (letter == 'd' || letter == 'i')
            return mg__strbuf_printf(out, full, longs ? (long long)v : (long long)(int32_t)(uint32_t)v);
        return mg__strbuf_printf(out, full, (unsigned long long)v);
    case 'c':
        if (!argument(w, lane, args, 4, &v))
            return false;
        snprintf(full, sizeof full, "%sc", flags);
        return mg__strbuf_printf(out, full, (int)v);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        double d;
        if (!argument(w, lane, args, 8, &v))
            return false;
        memcpy(&d, &v, 8);
        snprintf(full, sizeof full, "%s%c", flags, letter);
        return mg__strbuf_printf(out, full, d);
    }
    case 'p':
        if (!argument(w, lane, args, 8, &v))
            return false;
        snprintf(full, sizeof full, "%sp", flags);
        return mg__strbuf_printf(out, full, (void *)(uintptr_t)v);
    case 's': {
        struct mg_strbuf text = {0};
        bool good = argument(w, lane, args, 8, &v) && peek_string(w, lane, v, &text, 1 << 16);
        snprintf(full, sizeof full, "%ss", flags);
        good = good && mg__strbuf_printf(out, full, text.at ? text.at : "");
        mg__strbuf_free(&text);
        return good;
    }
    default:
        return mg__strbuf_append(out, spec, length);
    }
}

static bool format(struct mg_warp *w, unsigned lane, const char *f, struct arguments *args, struct mg_strbuf *out)
{
    while (*f) {
        if (*f != '%') {
            size_t n = strcspn(f, "%");
            if (!mg__strbuf_append(out, f, n))
                return false;
            f += n;
            continue;
        }
        if (f[1] == '%') {
            if (!mg__strbuf_append(out, "%", 1))
                return false;
            f += 2;
            continue;
        }
        size_t n = 1 + strspn(f + 1, "#0- +'123456789.*hlLzjt");
        if (!f[n])
            return mg__strbuf_append(out, f, n);
        if (!convert(w, lane, f, n + 1, args, out))
            return false;
        f += n + 1;
    }
    return true;
}

static void print(struct mg_simt *s, const char *text, size_t length)
{
    pthread_mutex_lock(&s->print_lock);
    if (s->options.print)
        s->options.print(s->options.print_arg, text, length);
    else
        fwrite(text, 1, length, stdout);
    pthread_mutex_unlock(&s->print_lock);
}

static uint64_t arg(const struct mg_warp *w, const struct mg_callsite *site, unsigned lane, unsigned k)
{
    return mg__param_read(w->frame, site->args[k], MG_MIN(site->arg_sizes[k], 8), lane);
}

static void give(struct mg_warp *w, const struct mg_callsite *site, unsigned lane, uint64_t value)
{
    if (site->nrets)
        mg__param_write(w->frame, site->rets[0], MG_MIN(site->ret_sizes[0], 8), lane, value);
}

static const struct mg_op *assert_failed(struct mg_warp *w, const struct mg_op *op, unsigned lane)
{
    const struct mg_callsite *site = op->u.call;
    struct mg_strbuf text = {0}, file = {0}, function = {0};
    peek_string(w, lane, arg(w, site, lane, 0), &text, 200);
    peek_string(w, lane, arg(w, site, lane, 1), &file, 200);
    peek_string(w, lane, arg(w, site, lane, 3), &function, 100);
    mg__fault(w, op, lane, MG_ERR_ASSERT, "assertion `%s' failed at %s:%u in %s", text.at ? text.at : "?",
              file.at ? file.at : "?", (unsigned)arg(w, site, lane, 2), function.at ? function.at : "?");
    mg__strbuf_free(&text);
    mg__strbuf_free(&file);
    mg__strbuf_free(&function);
    return NULL;
}

/* Its result is the number of arguments that the format takes, -1 without a format (CUDA programming guide). */
static bool printf_lane(struct mg_warp *w, const struct mg_callsite *site, unsigned lane)
{
    uint64_t at = arg(w, site, lane, 0);
    struct arguments args = {.base = arg(w, site, lane, 1)};
    struct mg_strbuf f = {0}, out = {0};
    bool good = !at || (peek_string(w, lane, at, &f, 1 << 16) && format(w, lane, f.at ? f.at : "", &args, &out));
    if (good && at)
        print(w->worker->run->simt, out.at ? out.at : "", out.count);
    mg__strbuf_free(&f);
    mg__strbuf_free(&out);
    give(w, site, lane, at ? args.count : UINT32_MAX);
    return good;
}

static void tell_heap(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, unsigned lane,
                      uint64_t address, uint64_t size)
{
    if (!w->worker->run->want_sync)
        return;
    struct mg_sync *e = mg__sync_event(w, op, kind, 1u << lane);
    e->address = address;
    e->size = size;
    mg__sync_emit(w->worker);
}

/* cudaGraphSetConditional: the handle is the address of a word (cudart/graph_condition.c). */
static bool set_condition(struct mg_warp *w, const struct mg_callsite *site, unsigned lane)
{
    const uint64_t at = arg(w, site, lane, 0);
    const uint32_t value = (uint32_t)arg(w, site, lane, 1);
    const struct mg_allocation *a = mg__snapshot_find(w->worker->run, at);
    if (!a || at % sizeof(value) || at - a->address + sizeof(value) > a->size)
        return false;
    __atomic_store_n((uint32_t *)(uintptr_t)at, value, __ATOMIC_RELEASE);
    return true;
}

const struct mg_op *mg__system_call(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_callsite *site = op->u.call;
    struct mg_simt *simt = w->worker->run->simt;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t address, size;
        switch (site->system) {
        case MG_SYS_VPRINTF:
            if (!printf_lane(w, site, lane))
                return mg__fault(w, op, lane, MG_ERR_ADDRESS,
                                 "printf was given a format or an argument it cannot read");
            break;
        case MG_SYS_MALLOC:
            size = arg(w, site, lane, 0);
            address = mg__heap_alloc(simt, size);
            tell_heap(w, op, MG_SYNC_MALLOC, lane, address, size);
            give(w, site, lane, address);
            break;
        case MG_SYS_FREE:
            address = arg(w, site, lane, 0);
            tell_heap(w, op, MG_SYNC_FREE, lane, address, 0);
            mg__heap_free(simt, address);
            break;
        case MG_SYS_CONDITION:
            if (!set_condition(w, site, lane))
                return mg__fault(w, op, lane, MG_ERR_ADDRESS, "0x%llx is no handle of a condition",
                                 (unsigned long long)arg(w, site, lane, 0));
            break;
        default:
            return assert_failed(w, op, lane);
        }
    }
    return op + 1;
}
