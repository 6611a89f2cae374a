package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/dbtest"
	"github.com/taskloom/taskloom/internal/fault"
)

// A document for one organization opens nobody's account in another: who is named joins with
// the password that they have.
func TestApplySetsNoPasswordOfPeopleOfOtherOrganizations(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st := dbtest.Store(t)
	_, err := applyDoc(t, st, fullDocument(t))
	require.NoError(t, err)
	ada := mustUser(t, st, "ada@acme.test")
	session := [32]byte{1}
	require.NoError(t, st.CreateSession(ctx, ada, session, "", time.Hour))
	theirs := func(password string) string {
		return fmt.Sprintf(`{"slug": "other", "users": [{"email": "new@other.test", "password": "long enough to pass"}, {"email": "Ada@acme.test"%s}]}`, password)
	}
	document := func(organizations string) string { return `{"organizations": [` + organizations + `]}` }
	const another = `, "password": "another one by them"`
	refused := func() {
		t.Helper()
		before := everything(t, st)
		_, err := applyDoc(t, st, document(theirs(another)))
		require.Equal(t, []string{"organizations[0].users[1].password"}, pathsOf(t, err))
		require.Equal(t, before, everything(t, st))
	}

	refused()
	for _, password := range []string{``, `, "password": "a long enough one"`} {
		_, err = applyDoc(t, st, document(theirs(password)))
		require.NoError(t, err)
	}
	me, err := st.Me(ctx, ada.ID)
	require.NoError(t, err)
	require.Len(t, me.Orgs, 2)
	refused()
	require.Equal(t, ada.PasswordHash, mustUser(t, st, "ada@acme.test").PasswordHash)
	_, err = st.SessionUser(ctx, session)
	require.NoError(t, err)

	_, err = applyDoc(t, st, document(theirs(another)+`, {"slug": "acme", "users": [{"email": "ada@acme.test"}]}`))
	require.NoError(t, err, "it speaks for both")
	_, err = st.SessionUser(ctx, session)
	require.Equal(t, fault.Unauthorized, fault.KindOf(err))

	require.NoError(t, st.RemoveUser(ctx, "acme", "bob@acme.test"))
	_, err = applyDoc(t, st, document(`{"slug": "other", "users": [{"email": "bob@acme.test"`+another+`}]}`))
	require.NoError(t, err, "he is in none any more")
}
