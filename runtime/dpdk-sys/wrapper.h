/* The narrow waist between Weft and DPDK: what is not named here is not used.
 *
 * Only opaque pointers, integers and the structs of this file cross it, so that the Rust side is
 * the same for every release. What differs between releases is in shim.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

/* Where the fields of a packet buffer lie in the installed release. */
enum dp_mbuf_offset {
	DP_MBUF_BUF_ADDR = offsetof(struct rte_mbuf, buf_addr),
	DP_MBUF_BUF_LEN = offsetof(struct rte_mbuf, buf_len),
	DP_MBUF_DATA_OFF = offsetof(struct rte_mbuf, data_off),
	DP_MBUF_NB_SEGS = offsetof(struct rte_mbuf, nb_segs),
	DP_MBUF_PKT_LEN = offsetof(struct rte_mbuf, pkt_len),
	DP_MBUF_DATA_LEN = offsetof(struct rte_mbuf, data_len),
};

enum dp_constant {
	DP_HEADROOM = RTE_PKTMBUF_HEADROOM,
	DP_BUFFER_SIZE = RTE_MBUF_DEFAULT_BUF_SIZE,
	DP_MAX_PORTS = RTE_MAX_ETHPORTS,
	DP_MAX_THREADS = RTE_MAX_LCORE,
	DP_CACHE_LIMIT = RTE_MEMPOOL_CACHE_MAX_SIZE,
};

/* Log lines, with their level from 1 (emergency) to 8 (debug). Called on the thread that logs. */
typedef void (*dp_log_sink)(uint32_t level, const char *text, size_t length);
int dp_log_open(dp_log_sink sink);

/* Functions that DPDK declares static inline, given a symbol. */
const char *dp_version(void);
int dp_errno(void);
void dp_errno_set(int number);
uint64_t dp_tsc(void);
bool dp_thread_is_registered(void);
struct rte_mbuf *dp_mbuf_alloc(struct rte_mempool *pool);
void dp_mbuf_free(struct rte_mbuf *mbuf);
uint16_t dp_rx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count);
uint16_t dp_tx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count);

/* A single-segment copy of a single-segment buffer, from the same pool. NULL if there is none. */
struct rte_mbuf *dp_mbuf_duplicate(const struct rte_mbuf *mbuf);
/* A buffer from the pool that another is from. NULL if there is none. */
struct rte_mbuf *dp_mbuf_fresh(const struct rte_mbuf *mbuf);

/* A pool of buffers for one packet each. `numa_node` may be -1. */
struct rte_mempool *dp_pool_create(const char *name, uint32_t buffers, uint32_t cache, int numa_node);

/* What a device can do, and what it is. */
struct dp_port_info {
	struct rte_device *device;
	char driver[64];
	uint8_t mac[6];
	uint16_t mtu;
	uint16_t max_rx_queues;
	uint16_t max_tx_queues;
	uint16_t min_mtu;
	uint16_t max_mtu;
	int numa_node; /* -1 if it has none */
};
int dp_port_info(uint16_t port, struct dp_port_info *info);

struct dp_port_link {
	uint8_t up;
	uint32_t speed_mbps; /* 0 if it has none */
};
int dp_port_link(uint16_t port, struct dp_port_link *link);

struct dp_port_stats {
	uint64_t rx_packets;
	uint64_t rx_bytes;
	uint64_t tx_packets;
	uint64_t tx_bytes;
	uint64_t rx_missed;
	uint64_t rx_errors;
	uint64_t rx_nombuf;
	uint64_t tx_errors;
};
int dp_port_stats(uint16_t port, struct dp_port_stats *stats);

/* No offloads; several receive queues share the load by a hash if the device has one. */
int dp_port_configure(uint16_t port, uint16_t rx_queues, uint16_t tx_queues);
int dp_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors, struct rte_mempool *pool);
int dp_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors);

/* The first port from `first` on, or DP_MAX_PORTS. */
uint16_t dp_port_next(uint16_t first);
