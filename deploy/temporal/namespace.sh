#!/bin/sh
# Makes the namespace and the search attributes that runs carry, if they are not
# there yet. TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE say where.
set -eu

temporal operator cluster health
temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
	temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"

# A new namespace takes a moment to be known everywhere.
tries=0
until known=$(temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" 2>&1); do
	tries=$((tries + 1))
	[ "$tries" -lt 30 ] || { echo "$known" >&2; exit 1; }
	sleep 1
done

for attribute in OrgId:Int PipelineId:Int TaskState:Keyword; do
	name=${attribute%:*}
	echo "$known" | grep -qw "$name" ||
		temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
			--name "$name" --type "${attribute#*:}"
done
