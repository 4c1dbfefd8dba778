/* One member of a closed process group of Corosync, under load.
 *
 *   cpg_load GROUP WINDOW MEMBER MEMBERS SIZE_BYTES RATE WARMUP_S SECONDS SAMPLES
 *
 * It speaks as every member of `bench.peers.loads` does: says `ready` once all members are in, is told on its input
 * when to begin (nanoseconds of CLOCK_MONOTONIC), and prints one JSON object at the end. RATE 0 is flat out, with at
 * most WINDOW of its own messages under way.
 */

#define _GNU_SOURCE
#include <corosync/corotypes.h>
#include <corosync/cpg.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <time.h>

#define SECOND_NS 1000000000ull
#define MEMBERS_MAX 128
#define LAST 0xffffffffu /* The number of a member's last message. */
#define PATIENCE_S 60ull
#define DISPATCHES_MAX 64 /* Then its own messages have their turn. */

/* What every message begins with; the rest is padding. */
struct header {
    uint32_t sender;
    uint32_t number;
    uint64_t due_ns;
};

struct sample {
    struct header header;
    uint64_t delivered_ns;
};

static unsigned members, members_in, ended;
static uint32_t me;
static uint64_t from_ns, until_ns;     /* What is delivered in between counts. */
static uint64_t delivered, in_window, under_way;
static uint32_t digest;
static FILE *samples;                  /* NULL if none are kept. */
static uint32_t crc_table[256];

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void fail(const char *what, int code)
{
    fprintf(stderr, "cpg_load: %s (%d)\n", what, code);
    exit(1);
}

/* The same as zlib's. */
static void make_crc_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t value = byte;
        for (int bit = 0; bit < 8; bit++)
            value = value & 1 ? value >> 1 ^ 0xedb88320u : value >> 1;
        crc_table[byte] = value;
    }
}

static uint32_t crc32(uint32_t crc, const void *data, size_t bytes)
{
    const unsigned char *each = data;
    crc = ~crc;
    while (bytes--)
        crc = crc_table[(crc ^ *each++) & 0xff] ^ crc >> 8;
    return ~crc;
}

static void on_deliver(cpg_handle_t handle, const struct cpg_name *group, uint32_t node, uint32_t pid, void *message,
                       size_t bytes)
{
    struct sample sample;
    (void)handle, (void)group, (void)node, (void)pid, (void)bytes;
    memcpy(&sample.header, message, sizeof sample.header);
    if (sample.header.number == LAST) {
        ended++;
        return;
    }
    sample.delivered_ns = now_ns();
    digest = crc32(digest, &sample.header, sizeof sample.header);
    delivered++;
    in_window += sample.delivered_ns >= from_ns && sample.delivered_ns < until_ns;
    under_way -= sample.header.sender == me;
    if (samples)
        fwrite(&sample, sizeof sample, 1, samples);
}

static void on_change(cpg_handle_t handle, const struct cpg_name *group, const struct cpg_address *member_list,
                      size_t member_count, const struct cpg_address *left, size_t left_count,
                      const struct cpg_address *joined, size_t joined_count)
{
    (void)handle, (void)group, (void)member_list, (void)left, (void)left_count, (void)joined, (void)joined_count;
    members_in = (unsigned)member_count;
}

static void attend(cpg_handle_t handle, int descriptor, uint64_t wait_ns)
{
    struct pollfd readable = {.fd = descriptor, .events = POLLIN};
    struct timespec wait = {.tv_sec = (time_t)(wait_ns / SECOND_NS), .tv_nsec = (long)(wait_ns % SECOND_NS)};
    if (ppoll(&readable, 1, &wait, NULL) <= 0)
        return;
    for (int turn = 0; turn < DISPATCHES_MAX; turn++) {
        cs_error_t error = cpg_dispatch(handle, CS_DISPATCH_ONE_NONBLOCKING);
        if (error == CS_ERR_TRY_AGAIN)
            return;
        if (error != CS_OK)
            fail("cpg_dispatch", error);
    }
}

/* Whether Corosync has taken it. */
static int multicast(cpg_handle_t handle, char *message, size_t bytes, uint32_t number, uint64_t due_ns)
{
    struct header header = {me, number, due_ns};
    struct iovec whole = {message, bytes};
    memcpy(message, &header, sizeof header);
    cs_error_t error = cpg_mcast_joined(handle, CPG_TYPE_AGREED, &whole, 1);
    if (error != CS_OK && error != CS_ERR_TRY_AGAIN)
        fail("cpg_mcast_joined", error);
    return error == CS_OK;
}

static uint32_t flood(cpg_handle_t handle, int descriptor, char *message, size_t bytes, uint64_t window)
{
    uint32_t number = 0;
    for (uint64_t now; (now = now_ns()) < until_ns;) {
        int taken = 1;
        while (under_way < window && (taken = multicast(handle, message, bytes, number, now))) {
            number++;
            under_way++;
        }
        attend(handle, descriptor, taken ? SECOND_NS / 100 : SECOND_NS / 10000);
    }
    return number;
}

static uint32_t pace(cpg_handle_t handle, int descriptor, char *message, size_t bytes, uint64_t start_ns, double rate)
{
    uint32_t number = 0;
    for (;;) {
        double due_s = ((double)number + (double)me / members) / rate;
        uint64_t due_ns = start_ns + (uint64_t)(due_s * 1e9), now = now_ns();
        if (due_ns >= until_ns)
            return number;
        if (now < due_ns)
            attend(handle, descriptor, due_ns - now);
        else if (multicast(handle, message, bytes, number, due_ns)) {
            number++;
            under_way++;
            attend(handle, descriptor, 0);
        } else
            attend(handle, descriptor, SECOND_NS / 10000);
    }
}

static void open_group(cpg_handle_t *handle, int *descriptor, const char *name)
{
    cpg_callbacks_t callbacks = {on_deliver, on_change};
    struct cpg_name group = {.length = (uint32_t)strlen(name)};
    cs_error_t error;
    strncpy(group.value, name, sizeof group.value - 1);
    uint64_t patient_until_ns = now_ns() + PATIENCE_S * SECOND_NS;
    while ((error = cpg_initialize(handle, &callbacks)) == CS_ERR_TRY_AGAIN && now_ns() < patient_until_ns)
        poll(NULL, 0, 50);
    if (error != CS_OK)
        fail("cpg_initialize", error);
    while ((error = cpg_join(*handle, &group)) == CS_ERR_TRY_AGAIN && now_ns() < patient_until_ns)
        poll(NULL, 0, 50);
    if (error != CS_OK)
        fail("cpg_join", error);
    if ((error = cpg_fd_get(*handle, descriptor)) != CS_OK)
        fail("cpg_fd_get", error);
    while (members_in < members) {
        if (now_ns() > patient_until_ns)
            fail("not all members have come", (int)members_in);
        attend(*handle, *descriptor, SECOND_NS / 100);
    }
}

int main(int count, char **arguments)
{
    cpg_handle_t handle;
    int descriptor;
    unsigned long long start_ns;
    if (count != 10)
        fail("expected 9 arguments", count - 1);
    me = (uint32_t)atoi(arguments[3]);
    members = (unsigned)atoi(arguments[4]);
    size_t bytes = (size_t)atol(arguments[5]);
    double rate = atof(arguments[6]);
    if (bytes < sizeof(struct header))
        fail("expected a size of 16 bytes or more", (int)bytes);
    if (rate > 0 && !(samples = fopen(arguments[9], "wb")))
        fail("cannot write the samples", 0);
    char *message = calloc(1, bytes);
    make_crc_table();
    prctl(PR_SET_TIMERSLACK, 1);
    open_group(&handle, &descriptor, arguments[1]);

    puts("ready");
    fflush(stdout);
    if (scanf("%llu", &start_ns) != 1)
        fail("not told when to begin", 0);
    from_ns = start_ns + (uint64_t)(atof(arguments[7]) * 1e9);
    until_ns = from_ns + (uint64_t)(atof(arguments[8]) * 1e9);
    for (uint64_t now; (now = now_ns()) < start_ns;)
        attend(handle, descriptor, start_ns - now);

    uint32_t sent = rate > 0 ? pace(handle, descriptor, message, bytes, start_ns, rate)
                             : flood(handle, descriptor, message, bytes, (uint64_t)atol(arguments[2]));
    uint64_t patient_until_ns = now_ns() + PATIENCE_S * SECOND_NS;
    while (!multicast(handle, message, bytes, LAST, 0))
        attend(handle, descriptor, SECOND_NS / 10000);
    while (ended < members) {
        if (now_ns() > patient_until_ns)
            fail("not all members have ended", (int)ended);
        attend(handle, descriptor, SECOND_NS / 100);
    }
    if (samples)
        fclose(samples);
    printf("{\"member\": %u, \"sent\": %u, \"delivered\": %llu, \"in_window\": %llu, \"digest\": %u}\n", me, sent,
           (unsigned long long)delivered, (unsigned long long)in_window, digest);
    cpg_finalize(handle);
    return 0;
}
