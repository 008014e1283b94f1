# From tcp.h, an initialiser for each event: its identifier in lower case.
s/^\tX(\([A-Z0-9_]*\),.*/[TCP_EV_\1] = "\L\1",/p
