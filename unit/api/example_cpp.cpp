// SPDX-License-Identifier: BSD-3-Clause
// The example as C++: the headers are C++-safe and link with C linkage.
#include "example.h"

extern "C" int example_cpp_round(int port, int use_epoll, int (*arrive)(int port));

int
example_cpp_round(int port, int use_epoll, int (*arrive)(int port))
{
	struct echo e;
	int rc = echo_start(&e, port, use_epoll);

	if (rc != 0)
		return -rc;
	arrive(port);
	echo_loop(&e);
	ff_close(e.queue);
	ff_close(e.fd);
	return (int)e.served;
}
