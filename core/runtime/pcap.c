/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording a worker's frames; see pcap.h. */
#include "pcap.h"

#include <errno.h>
#include <limits.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <string.h>

#define FILE_HEADER 24u
#define RECORD_HEADER 16u
#define MACS 12u
#define TAG 4u

struct capture {
	struct shim *shim;
	const struct nonic_config *cfg;
	pcap_t *format;
	pcap_dumper_t *dumper;       /* NULL: recording has ended */
	uint64_t written;            /* bytes of the open file */
	unsigned int lcore, side, file;
	unsigned int staged;
	struct pcap_pkthdr head[CAPTURE_BURST];
	char path[PATH_MAX];
	uint8_t data[];              /* CAPTURE_BURST times snaplen */
};

static int
file_open(struct capture *c)
{
	int n = snprintf(c->path, sizeof(c->path), "%s/cpu%u%s_%u.pcap", c->cfg->pcap.savepath, c->lcore,
		c->side != 0 ? "-1" : "", c->file);

	if (n < 0 || (size_t)n >= sizeof(c->path))
		return -ENAMETOOLONG;
	errno = 0;
	c->dumper = pcap_dump_open(c->format, c->path);
	if (c->dumper == NULL)
		return errno != 0 ? -errno : -EIO;
	c->written = FILE_HEADER;
	return 0;
}

int
capture_open(struct shim *s, const struct nonic_config *cfg, unsigned int proc_id, unsigned int side, struct capture **out)
{
	struct capture *c;
	int rc;

	*out = NULL;
	if (!cfg->pcap.enable)
		return 0;
	c = shim_malloc(s, sizeof(*c) + (size_t)CAPTURE_BURST * cfg->pcap.snaplen);
	if (c == NULL) {
		shim_log(s, SHIM_LOG_ERR, "[pcap] enable=1: no memory for %u frames of %u bytes", CAPTURE_BURST,
			cfg->pcap.snaplen);
		return -ENOMEM;
	}
	c->shim = s;
	c->cfg = cfg;
	c->lcore = cfg->proc_lcore[proc_id];
	c->side = side;
	c->format = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, (int)cfg->pcap.snaplen,
		cfg->pcap.precision_ns ? PCAP_TSTAMP_PRECISION_NANO : PCAP_TSTAMP_PRECISION_MICRO);
	rc = c->format == NULL ? -ENOMEM : file_open(c);
	if (rc < 0) {
		shim_log(s, SHIM_LOG_ERR, "%s can not be written: %s: give [pcap] savepath a directory that can, or set "
			"enable=0", c->path, strerror(-rc));
		capture_close(c);
		return rc;
	}
	*out = c;
	return 0;
}

/* Said once: there is no recording after it. */
static void
failed(struct capture *c, int err)
{
	shim_log(c->shim, SHIM_LOG_ERR, "%s: %s: recording has ended, traffic goes on", c->path, strerror(err));
	if (c->dumper != NULL)
		pcap_dump_close(c->dumper);
	c->dumper = NULL;
}

void
capture_flush(struct capture *c)
{
	errno = 0;
	if (c->dumper != NULL && (pcap_dump_flush(c->dumper) != 0 || ferror(pcap_dump_file(c->dumper))))
		failed(c, errno != 0 ? errno : EIO);
}

void
capture_close(struct capture *c)
{
	if (c == NULL)
		return;
	capture_flush(c);
	if (c->dumper != NULL)
		pcap_dump_close(c->dumper);
	if (c->format != NULL)
		pcap_close(c->format);
	shim_free(c->shim, c);
}

/* Copies at most n bytes of the frame from off on; returns how many there were. */
static uint32_t
gather(const struct rte_mbuf *m, uint32_t off, uint8_t *to, uint32_t n)
{
	uint32_t done = 0;

	for (; m != NULL && done < n; m = m->next) {
		uint32_t len = shim_buf_seg_len(m), k;

		if (off >= len) {
			off -= len;
			continue;
		}
		k = len - off < n - done ? len - off : n - done;
		memcpy(to + done, shim_buf_data_off(m, const uint8_t *, off), k);
		done += k;
		off = 0;
	}
	return done;
}

void
capture_stage(struct capture *c, struct rte_mbuf *const *m, unsigned int n)
{
	uint32_t snaplen = c->cfg->pcap.snaplen;
	uint64_t now;

	c->staged = 0;
	if (c->dumper == NULL || n == 0)
		return;
	now = shim_wall_ns(c->shim);
	for (unsigned int i = 0; i < n && i < CAPTURE_BURST; i++) {
		struct pcap_pkthdr *h = &c->head[i];
		uint8_t *d = c->data + (size_t)i * snaplen;
		uint32_t len = shim_buf_len(m[i]);

		h->ts.tv_sec = now / 1000000000u;
		h->ts.tv_usec = now % 1000000000u / (c->cfg->pcap.precision_ns ? 1 : 1000);
		if ((m[i]->ol_flags & (RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_TX_VLAN)) && len >= MACS &&
			snaplen > MACS + TAG) {
			gather(m[i], 0, d, MACS);
			memcpy(d + MACS, (uint8_t[TAG]){ 0x81, 0x00, m[i]->vlan_tci >> 8, m[i]->vlan_tci & 0xff }, TAG);
			h->len = len + TAG;
			h->caplen = MACS + TAG + gather(m[i], MACS, d + MACS + TAG, snaplen - MACS - TAG);
		} else {
			h->len = len;
			h->caplen = gather(m[i], 0, d, snaplen);
		}
		c->staged++;
	}
}

/* Goes on with the next file. */
static bool
rotate(struct capture *c)
{
	int rc;

	capture_flush(c);
	if (c->dumper == NULL)
		return false;
	pcap_dump_close(c->dumper);
	c->dumper = NULL;
	c->file = (c->file + 1) % CAPTURE_FILES;
	rc = file_open(c);
	if (rc < 0)
		failed(c, -rc);
	return rc == 0;
}

void
capture_commit(struct capture *c, unsigned int n)
{
	if (n == 0 || c->dumper == NULL)
		return;
	errno = 0;
	for (unsigned int i = 0; i < n && i < c->staged; i++) {
		uint64_t len = RECORD_HEADER + c->head[i].caplen;

		if (c->written > FILE_HEADER && c->written + len > c->cfg->pcap.savelen && !rotate(c))
			return;
		pcap_dump((u_char *)c->dumper, &c->head[i], c->data + (size_t)i * c->cfg->pcap.snaplen);
		c->written += len;
	}
	if (ferror(pcap_dump_file(c->dumper)))
		failed(c, errno != 0 ? errno : EIO);
}
