/* SPDX-License-Identifier: BSD-3-Clause */
/* Every reason for which a stack drops a packet: X(identifier, text). One counter each, by name in `nonic status`. */
#ifndef NONIC_STACK_DROPS_H
#define NONIC_STACK_DROPS_H

#define STACK_DROPS(X) \
	/* link */ \
	X(ETH_SHORT, "frame shorter than an Ethernet header") \
	X(ETH_NOT_FOR_US, "unicast frame for another station") \
	X(ETH_TYPE_UNKNOWN, "EtherType without a handler") \
	X(VLAN_SHORT, "VLAN tag cut short") \
	X(VLAN_UNKNOWN, "VLAN without an interface") \
	X(IF_DOWN, "interface is down") \
	X(ARP_MALFORMED, "ARP packet malformed") \
	X(ARP_SPOOF, "ARP sender is martian, or our own address") \
	X(NEIGH_QUEUE_FULL, "too many packets wait for one neighbour") \
	X(NEIGH_UNREACHABLE, "neighbour did not answer") \
	X(NEIGH_TABLE_FULL, "neighbour table full") \
	X(TX_FULL, "transmit queue full") \
	X(NO_BUFFER, "no packet buffer") \
	/* IPv4 */ \
	X(IP4_SHORT, "IPv4 header cut short") \
	X(IP4_VERSION, "IPv4 version field") \
	X(IP4_IHL, "IPv4 header length field") \
	X(IP4_TOTAL_LENGTH, "IPv4 total length field") \
	X(IP4_CSUM, "IPv4 header checksum") \
	X(IP4_MARTIAN, "IPv4 source is martian or our own") \
	X(IP4_OPTIONS, "IPv4 options malformed") \
	X(IP4_SOURCE_ROUTE, "IPv4 source route option") \
	X(IP4_NOT_FOR_US, "IPv4 destination is not ours") \
	X(IP4_PROTO_UNKNOWN, "IPv4 protocol without a handler") \
	X(IP4_FRAG_MALFORMED, "IPv4 fragment malformed") \
	X(IP4_FRAG_DUPLICATE, "IPv4 fragment received twice") \
	X(IP4_FRAG_OVERLAP, "IPv4 fragments overlap") \
	X(IP4_FRAG_TOO_BIG, "IPv4 reassembled datagram over 65535 bytes") \
	X(IP4_FRAG_TIMEOUT, "IPv4 reassembly timed out") \
	X(IP4_FRAG_LIMIT, "IPv4 reassembly memory limit") \
	X(IP4_NO_ROUTE, "no IPv4 route") \
	X(IP4_TX_TOO_BIG, "IPv4 datagram to send over 65535 bytes") \
	X(IP4_DF, "IPv4 packet over the MTU with don't-fragment set") \
	X(ICMP4_SHORT, "ICMP message cut short") \
	X(ICMP4_CSUM, "ICMP checksum") \
	X(ICMP4_BROADCAST, "ICMP echo to a broadcast or multicast address") \
	X(ICMP4_TYPE, "ICMP type or code not handled") \
	X(ICMP4_QUOTE, "ICMP error quotes nothing of ours") \
	X(ICMP4_LIMIT, "ICMP rate limit") \
	/* IPv6 */ \
	X(IP6_OFF, "IPv6 is off on the interface") \
	X(IP6_SHORT, "IPv6 header cut short") \
	X(IP6_VERSION, "IPv6 version field") \
	X(IP6_LENGTH, "IPv6 payload length field") \
	X(IP6_JUMBO, "IPv6 jumbogram") \
	X(IP6_MARTIAN, "IPv6 source is martian or our own") \
	X(IP6_NOT_FOR_US, "IPv6 destination is not ours") \
	X(IP6_EXT_MALFORMED, "IPv6 extension header malformed") \
	X(IP6_EXT_ORDER, "IPv6 hop-by-hop header not first") \
	X(IP6_EXT_LIMIT, "too many IPv6 extension headers") \
	X(IP6_OPTION, "IPv6 option asks for the packet to be dropped") \
	X(IP6_RH0, "IPv6 routing header type 0") \
	X(IP6_ROUTING, "IPv6 routing header of an unknown type") \
	X(IP6_NEXT_UNKNOWN, "IPv6 next header without a handler") \
	X(IP6_NO_NEXT, "IPv6 no next header") \
	X(IP6_FRAG_MALFORMED, "IPv6 fragment malformed") \
	X(IP6_FRAG_DUPLICATE, "IPv6 fragment is here already") \
	X(IP6_FRAG_OVERLAP, "IPv6 fragments overlap") \
	X(IP6_FRAG_TOO_BIG, "IPv6 reassembled datagram over 65535 bytes") \
	X(IP6_FRAG_HEADER_CHAIN, "IPv6 header chain not in the first fragment") \
	X(IP6_FRAG_TIMEOUT, "IPv6 reassembly timed out") \
	X(IP6_FRAG_LIMIT, "IPv6 reassembly memory limit") \
	X(IP6_NO_ROUTE, "no IPv6 route") \
	X(IP6_NO_SOURCE, "no usable IPv6 source address") \
	X(IP6_TOO_BIG, "IPv6 packet over the MTU that may not be fragmented") \
	X(ICMP6_SHORT, "ICMPv6 message cut short") \
	X(ICMP6_CSUM, "ICMPv6 checksum") \
	X(ICMP6_TYPE, "ICMPv6 type or code not handled") \
	X(ICMP6_QUOTE, "ICMPv6 error quotes nothing of ours") \
	X(ICMP6_LIMIT, "ICMPv6 rate limit") \
	X(ND_HOP_LIMIT, "neighbour discovery hop limit not 255") \
	X(ND_MALFORMED, "neighbour discovery message malformed") \
	X(ND_TARGET, "neighbour discovery target not acceptable") \
	X(ND_OPTION, "neighbour discovery option malformed") \
	X(ND_REDIRECT, "redirect, which we do not follow") \
	/* UDP and sockets */ \
	X(UDP_SHORT, "UDP header cut short") \
	X(UDP_LENGTH, "UDP length field") \
	X(UDP_CSUM, "UDP checksum") \
	X(UDP_ZERO_CSUM6, "UDP over IPv6 without a checksum") \
	X(UDP_NO_PORT, "no UDP socket for the port") \
	X(UDP_PORT_ZERO, "UDP destination port 0") \
	X(UDP_RCVBUF, "UDP socket's receive buffer full") \
	X(TCP_NO_PORT, "no TCP socket for the port") \
	X(TCP_SHORT, "TCP header cut short") \
	X(TCP_DATA_OFFSET, "TCP data offset field") \
	X(TCP_CSUM, "TCP checksum") \
	X(TCP_GROUP, "TCP segment to many") \
	X(TCP_SEQ, "TCP segment outside the window") \
	X(TCP_ACK, "TCP acknowledgement of what was not sent, or missing") \
	X(TCP_PAWS, "TCP timestamp too old") \
	X(TCP_NO_TS, "TCP timestamp missing") \
	X(TCP_OOO_LIMIT, "TCP segments out of order: too many buffers") \
	X(L4_CSUM_HW, "checksum marked bad by the port") \
	X(BACKPRESSURE, "shed: free buffers below the low-water mark")

enum stack_drop {
#define X(id, text) STACK_DROP_##id,
	STACK_DROPS(X)
#undef X
	STACK_DROP_COUNT
};

/* Name ("ip4_csum", lower case) and text of a reason; "?" for a number out of range. */
const char *stack_drop_name(enum stack_drop r);
const char *stack_drop_text(enum stack_drop r);

#endif
