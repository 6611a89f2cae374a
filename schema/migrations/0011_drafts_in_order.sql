-- After which event of its task a draft was saved, and of which revision that is
-- said. The time at which it was saved cannot tell whether it was before a claim or
-- what somebody handed in, where the database's clock stepped back between. The
-- binary of before raises the revision alone: what it saved is judged by the time.
ALTER TABLE drafts ADD COLUMN after_seq bigint, ADD COLUMN after_revision bigint;
