/* SPDX-License-Identifier: BSD-3-Clause */
/* The suite's bed and its order. */
#include "contract.h"

#include <stdio.h>

struct contract contract;

void
contract_port_up(void)
{
	struct shim_port_conf c = { .nb_rx_queues = CONTRACT_QUEUES,
		.nb_tx_queues = CONTRACT_QUEUES, .mtu = 1500, .pool = contract.pool };
	struct shim_port_info info;

	if (contract.port_up)
		return;
	assert_int_equal(shim_port_info(contract.s, 0, &info), 0);
	c.tx_offloads = info.tx_offloads & SHIM_TX_MULTI_SEGS;
	assert_int_equal(shim_port_configure(contract.s, 0, &c), 0);
	assert_int_equal(shim_port_start(contract.s, 0), 0);
	if (contract_backend.port_ready != NULL)
		contract_backend.port_ready(contract.bed);
	contract.port_up = true;
}

void
contract_port_down(void)
{
	assert_int_equal(shim_port_stop(contract.s, 0), 0);
	contract.port_up = false;
}

void
contract_as(struct shim *s)
{
	if (contract_backend.as != NULL)
		contract_backend.as(contract.bed, s);
}

int
contract_setup(void **state)
{
	(void)state;
	contract.avail_before = shim_pool_avail(contract.s, contract.pool);
	return 0;
}

int
contract_teardown(void **state)
{
	(void)state;
	assert_int_equal(shim_pool_avail(contract.s, contract.pool), contract.avail_before);
	return 0;
}

int
main(void)
{
	int failed = 0, rc;

	rc = contract_backend.open(&contract.bed);
	if (rc != 0)
		return rc;
	contract.s = contract_backend.primary(contract.bed);
	rc = shim_pool_create(contract.s, "contract", CONTRACT_BUFS, CONTRACT_ROOM, &contract.pool);
	if (rc != 0) {
		fprintf(stderr, "contract: no pool: %d\n", rc);
		return 1;
	}
	failed += contract_run_base();
	failed += contract_run_bufs();
	failed += contract_run_deaths();
	failed += contract_run_ports();
	failed += contract_run_rings();
	if (shim_pool_avail(contract.s, contract.pool) != CONTRACT_BUFS) {
		fprintf(stderr, "contract: buffers missing at the end\n");
		failed++;
	}
	contract_backend.close(contract.bed);
	return failed != 0;
}
