-- Which look into an archive may write the rows and the plan of an upload whose
-- rows come from the archive: the last that began. A worker that was given up for
-- dead, and is not, holds an older number. The binary of before begins looks
-- without one, beside which an upload is as safe as it was.
ALTER TABLE uploads ADD COLUMN look bigint NOT NULL DEFAULT 0;
