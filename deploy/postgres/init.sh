#!/bin/bash
# Runs once, on an empty volume: roles and databases of Taskloom and of Temporal.
#
# taskloom_owner changes the schema, taskloom reads and writes rows: whoever
# breaks into a serving process cannot drop or alter a table. What the owner
# makes later is granted to taskloom by the default privileges below.
set -euo pipefail

psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
	--set owner_password="$TASKLOOM_OWNER_PASSWORD" \
	--set password="$TASKLOOM_PASSWORD" \
	--set temporal_password="$TEMPORAL_PASSWORD" <<'SQL'
CREATE ROLE taskloom_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE taskloom LOGIN PASSWORD :'password';
CREATE ROLE temporal LOGIN PASSWORD :'temporal_password';

CREATE DATABASE taskloom OWNER taskloom_owner;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE CONNECT, TEMPORARY ON DATABASE taskloom, temporal, temporal_visibility FROM PUBLIC;
GRANT CONNECT ON DATABASE taskloom TO taskloom;

\connect taskloom
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT CREATE, USAGE ON SCHEMA public TO taskloom_owner;
GRANT USAGE ON SCHEMA public TO taskloom;
ALTER DEFAULT PRIVILEGES FOR ROLE taskloom_owner GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO taskloom;
ALTER DEFAULT PRIVILEGES FOR ROLE taskloom_owner GRANT USAGE, SELECT ON SEQUENCES TO taskloom;
SQL
