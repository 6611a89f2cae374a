#!/bin/sh
# Makes the namespace if it is not there yet, and keeps the runs that are over for
# TEMPORAL_RETENTION in either case. TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE say
# where. (Its search attributes are registered by taskloom itself.)
set -eu

tries=0
until health=$(temporal operator cluster health 2>&1); do
	tries=$((tries + 1))
	[ "$tries" -lt 60 ] || { echo "$health" >&2; exit 1; }
	sleep 1
done

if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
	temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
else
	temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
fi
