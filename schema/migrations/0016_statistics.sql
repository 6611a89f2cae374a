-- What Postgres counts of a table is a sample of 300 rows for each unit of its largest
-- target, spread over the whole table: with the usual 100 it reads up to 30,000 pages.
-- Those of tasks, of their journal and of what was handed in are mostly cold; on a slow
-- disk that took 19 s, in which all who wrote waited for the disk. These tables are read
-- by few columns with few common values, or by a task's id; 20 is enough for them. A
-- column that is added later needs it, too, and so does an expression in an index
-- (statistics_test.go of internal/store). No table is read or written here. The binary
-- of before does not care.
DO $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT a.attrelid::regclass AS of, a.attname, a.attnum, a.attrelid IN ('tasks'::regclass, 'task_events'::regclass, 'submissions'::regclass) AS is_table
        FROM pg_attribute a LEFT JOIN pg_index x ON x.indexrelid = a.attrelid
        WHERE a.attnum > 0 AND NOT a.attisdropped AND (a.attrelid IN ('tasks'::regclass, 'task_events'::regclass, 'submissions'::regclass)
            OR x.indrelid IN ('tasks'::regclass, 'task_events'::regclass, 'submissions'::regclass) AND x.indkey[a.attnum - 1] = 0)
        ORDER BY a.attrelid, a.attnum
    LOOP
        IF c.is_table THEN
            EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 20', c.of, c.attname);
        ELSE
            EXECUTE format('ALTER INDEX %s ALTER COLUMN %s SET STATISTICS 20', c.of, c.attnum);
        END IF;
    END LOOP;
END $$;
