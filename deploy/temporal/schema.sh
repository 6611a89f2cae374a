#!/bin/sh
# Brings Temporal's two databases to the schema of this release of it. Safe to
# run again: a database that has a schema keeps it, update-schema adds what is missing.
# The databases themselves, and who owns them, come from deploy/postgres/init.sh.
set -eu

for database in temporal temporal_visibility; do
	case $database in
	temporal) schema=postgresql/v12/temporal ;;
	*) schema=postgresql/v12/visibility ;;
	esac
	SQL_DATABASE=$database temporal-sql-tool setup-schema -v 0.0
	SQL_DATABASE=$database temporal-sql-tool update-schema --schema-name "$schema"
done
