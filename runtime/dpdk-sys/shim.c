#define _GNU_SOURCE

#include "wrapper.h"

#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_log.h>
#include <rte_version.h>

static dp_log_sink log_sink;

static ssize_t log_write(void *cookie, const char *text, size_t length)
{
	(void)cookie;
	log_sink((uint32_t)rte_log_cur_msg_loglevel(), text, length);
	return (ssize_t)length;
}

int dp_log_open(dp_log_sink sink)
{
	const cookie_io_functions_t functions = { .write = log_write };
	FILE *stream = fopencookie(NULL, "w", functions);

	if (stream == NULL)
		return -1;
	log_sink = sink;
	return rte_openlog_stream(stream);
}

const char *dp_version(void)
{
	return rte_version();
}

int dp_errno(void)
{
	return rte_errno;
}

void dp_errno_set(int number)
{
	rte_errno = number;
}

uint64_t dp_tsc(void)
{
	return rte_rdtsc();
}

bool dp_thread_is_registered(void)
{
	return rte_lcore_id() != LCORE_ID_ANY;
}

struct rte_mbuf *dp_mbuf_alloc(struct rte_mempool *pool)
{
	return rte_pktmbuf_alloc(pool);
}

void dp_mbuf_free(struct rte_mbuf *mbuf)
{
	rte_pktmbuf_free(mbuf);
}

uint16_t dp_rx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return rte_eth_rx_burst(port, queue, mbufs, count);
}

uint16_t dp_tx_burst(uint16_t port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t count)
{
	return rte_eth_tx_burst(port, queue, mbufs, count);
}

struct rte_mbuf *dp_mbuf_duplicate(const struct rte_mbuf *mbuf)
{
	/* One byte, for the metadata: a longer copy could be cut into segments. */
	struct rte_mbuf *copy = rte_pktmbuf_copy(mbuf, mbuf->pool, 0, 1);
	uint16_t length = mbuf->data_len;

	if (copy == NULL)
		return NULL;
	/* The same place in the buffer, so that what fitted there fits here. A driver's own
	 * buffer may be larger than the pool's. */
	if ((uint32_t)mbuf->data_off + length <= copy->buf_len)
		copy->data_off = mbuf->data_off;
	if ((uint32_t)copy->data_off + length > copy->buf_len) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	memcpy(rte_pktmbuf_mtod(copy, void *), rte_pktmbuf_mtod(mbuf, const void *), length);
	copy->data_len = length;
	copy->pkt_len = length;
	return copy;
}

struct rte_mbuf *dp_mbuf_fresh(const struct rte_mbuf *mbuf)
{
	return rte_pktmbuf_alloc(mbuf->pool);
}

struct rte_mempool *dp_pool_create(const char *name, uint32_t buffers, uint32_t cache, int numa_node)
{
	return rte_pktmbuf_pool_create(name, buffers, cache, 0, RTE_MBUF_DEFAULT_BUF_SIZE, numa_node);
}

int dp_port_info(uint16_t port, struct dp_port_info *info)
{
	struct rte_eth_dev_info device;
	struct rte_ether_addr mac;
	int status = rte_eth_dev_info_get(port, &device);

	memset(info, 0, sizeof(*info));
	if (status == 0)
		status = rte_eth_macaddr_get(port, &mac);
	if (status == 0)
		status = rte_eth_dev_get_mtu(port, &info->mtu);
	if (status != 0)
		return status;

	info->device = device.device;
	snprintf(info->driver, sizeof(info->driver), "%s", device.driver_name);
	memcpy(info->mac, mac.addr_bytes, sizeof(info->mac));
	info->max_rx_queues = device.max_rx_queues;
	info->max_tx_queues = device.max_tx_queues;
	info->min_mtu = device.min_mtu;
	info->max_mtu = device.max_mtu;
	info->numa_node = rte_eth_dev_socket_id(port);
	return 0;
}

int dp_port_link(uint16_t port, struct dp_port_link *link)
{
	struct rte_eth_link state;
	int status = rte_eth_link_get_nowait(port, &state);

	if (status != 0)
		return status;
	link->up = state.link_status == RTE_ETH_LINK_UP;
	link->speed_mbps = state.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : state.link_speed;
	return 0;
}

int dp_port_stats(uint16_t port, struct dp_port_stats *stats)
{
	struct rte_eth_stats device;
	int status = rte_eth_stats_get(port, &device);

	if (status != 0)
		return status;
	*stats = (struct dp_port_stats) {
		.rx_packets = device.ipackets,
		.rx_bytes = device.ibytes,
		.tx_packets = device.opackets,
		.tx_bytes = device.obytes,
		.rx_missed = device.imissed,
		.rx_errors = device.ierrors,
		.rx_nombuf = device.rx_nombuf,
		.tx_errors = device.oerrors,
	};
	return 0;
}

int dp_port_configure(uint16_t port, uint16_t rx_queues, uint16_t tx_queues)
{
	struct rte_eth_conf conf;
	struct rte_eth_dev_info device;
	int status = rte_eth_dev_info_get(port, &device);

	if (status != 0)
		return status;
	memset(&conf, 0, sizeof(conf));
	if (rx_queues > 1) {
		conf.rx_adv_conf.rss_conf.rss_hf =
			device.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP);
		if (conf.rx_adv_conf.rss_conf.rss_hf != 0)
			conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	}
	return rte_eth_dev_configure(port, rx_queues, tx_queues, &conf);
}

int dp_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors, struct rte_mempool *pool)
{
	return rte_eth_rx_queue_setup(port, queue, descriptors, (unsigned int)rte_eth_dev_socket_id(port), NULL, pool);
}

int dp_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t descriptors)
{
	return rte_eth_tx_queue_setup(port, queue, descriptors, (unsigned int)rte_eth_dev_socket_id(port), NULL);
}

uint16_t dp_port_next(uint16_t first)
{
	uint16_t port = rte_eth_find_next(first);

	return port < RTE_MAX_ETHPORTS ? port : RTE_MAX_ETHPORTS;
}
