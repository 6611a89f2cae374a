-- When a confirmation was last refused though the program did all that it has to:
-- no worker could take the upload, or storage was away. It was told to try again, so
-- the upload is not cancelled before it does. The binary of before notes none, and
-- cancels such uploads as it did.
ALTER TABLE uploads ADD COLUMN asked_at timestamptz;
