package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/apikey"
	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/store"
)

// TestUseIsNotedOnTheSide asserts that whoever asks waits for no disk and no standby
// when the use of their key or session is noted, and is answered where it cannot be.
func TestUseIsNotedOnTheSide(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	w := dbtest.NewWorld(t)
	// Databases of tests do not wait for the disk.
	st, err := store.Open(ctx, w.Store.Pool().Config().ConnString()+"&synchronous_commit=on", store.Options{MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := w.Store.Pool().Exec(ctx, sql, args...)
		require.NoError(t, err)
	}
	key, session := apikey.Hash(w.KeyValue), [32]byte{1}
	user, err := st.UserByEmail(ctx, "admin1@acme.test")
	require.NoError(t, err)
	require.NoError(t, st.CreateSession(ctx, user, session, "", time.Hour))
	for table, use := range map[string]func() error{
		"api_keys": func() error { _, err := st.AuthenticateKey(ctx, key); return err },
		"sessions": func() error { _, err := st.SessionUser(ctx, session); return err },
	} {
		column := map[string]string{"api_keys": "last_used_at", "sessions": "seen_at"}[table]
		exec(`UPDATE ` + table + ` SET ` + column + ` = now() - interval '2 minutes'`)
		exec(`CREATE TABLE seen_` + table + ` AS SELECT ''::text AS commits LIMIT 0`)
		exec(`CREATE FUNCTION see_` + table + `() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			INSERT INTO seen_` + table + ` VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$`)
		exec(`CREATE TRIGGER see BEFORE UPDATE ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION see_` + table + `()`)
		require.NoError(t, use())
		var commits string
		require.NoError(t, w.Store.Pool().QueryRow(ctx, `SELECT commits FROM seen_`+table).Scan(&commits), "it is noted")
		require.Equal(t, "off", commits)

		exec(`DROP TRIGGER see ON ` + table)
		exec(`UPDATE ` + table + ` SET ` + column + ` = now() - interval '2 minutes'`)
		exec(`CREATE FUNCTION refuse_` + table + `() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			RAISE EXCEPTION 'no space left' USING ERRCODE = 'disk_full'; END $$`)
		exec(`CREATE TRIGGER refuse BEFORE UPDATE ON ` + table + ` FOR EACH ROW EXECUTE FUNCTION refuse_` + table + `()`)
		require.NoError(t, use())
	}
	var commits string
	require.NoError(t, st.Pool().QueryRow(ctx, `SHOW synchronous_commit`).Scan(&commits))
	require.Equal(t, "on", commits, "for that statement only")
}
