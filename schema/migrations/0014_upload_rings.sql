-- When the run of an upload that stands still was told again. It is no progress of the
-- upload's: how long one stands is told since something of it changed. The binary of
-- before notes it as progress instead, and its uploads stand no longer than that.
ALTER TABLE uploads ADD COLUMN rung_at timestamptz;
