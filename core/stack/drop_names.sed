# From drops.h, an initialiser for each reason: its identifier in lower case.
s/^\tX(\([A-Z0-9_]*\),.*/[STACK_DROP_\1] = "\L\1",/p
