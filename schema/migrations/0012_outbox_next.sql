-- The order in which what is due is told, without the number of the row: while Postgres
-- counts no rows in the outbox, it takes an index that ends in the number for as good
-- as the primary key, and whoever told a few rows came by all of it to delete them,
-- beside an old snapshot also by all that was ever told. The binary of before orders
-- what became due at the same time itself, until it is replaced.
--
-- Beside a product at work, as migration 9.
---- tern: disable-tx ----
SET lock_timeout = 0;
-- What a try that was cut off has left.
DROP INDEX CONCURRENTLY IF EXISTS outbox_next;
CREATE INDEX CONCURRENTLY outbox_next ON outbox (priority, next_attempt_at);
DROP INDEX CONCURRENTLY IF EXISTS outbox_due;
