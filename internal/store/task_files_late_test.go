package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/pipeline"
	"github.com/taskloom/taskloom/internal/store"
)

// lateConn is a connection on which one message stays on its way to the server. Nothing
// that the client does from then on arrives, not even that it has gone.
type lateConn struct {
	net.Conn

	left atomic.Int64 // messages until that one, of which there is none before it is set
	kept []byte
	held chan struct{}
}

func (l *lateConn) gone() bool {
	select {
	case <-l.held:
		return true
	default:
		return false
	}
}

func (l *lateConn) Write(b []byte) (int, error) {
	switch {
	case l.gone():
	case l.left.Add(-1) == 0:
		l.kept = append(l.kept, b...)
		close(l.held)
	default:
		return l.Conn.Write(b)
	}
	return len(b), nil
}

func (l *lateConn) Read(b []byte) (int, error) {
	if l.gone() {
		return 0, io.EOF
	}
	return l.Conn.Read(b)
}

func (l *lateConn) Close() error {
	if l.gone() {
		return nil
	}
	return l.Conn.Close()
}

// arrive lets the message reach the server, and the end of the connection once that
// has answered.
func (l *lateConn) arrive(t *testing.T) {
	t.Helper()
	require.NoError(t, l.SetDeadline(time.Now().Add(20*time.Second)))
	_, err := l.Conn.Write(l.kept)
	require.NoError(t, err)
	_, err = l.Conn.Read(make([]byte, 1<<10))
	require.NoError(t, err)
	require.NoError(t, l.Conn.Close())
}

// A completion that was given up is over once its file was asked for, whichever of its
// messages is still on its way: it counts then or never.
func TestACompletionCountsBeforeItsFileIsSettledOrNever(t *testing.T) {
	t.Parallel()
	for n := range int64(3) {
		t.Run(fmt.Sprintf("message %d", n+1), func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			ctx := context.WithoutCancel(t.Context())
			b.create(1)
			c := b.claim(b.Contributors[0], pipeline.KindSubtask)
			var files [2]store.TaskFile
			for i := range files {
				files[i] = store.TaskFile{Field: "scan", UploadKey: uuid.NewString(), Announced: "image/png"}
				files[i].ID, files[i].Name, files[i].Size = uuid.New(), "a.png", 1
				require.NoError(t, b.Store.CreateTaskFile(ctx, *c, files[i]))
				files[i].Key = "copy"
			}

			var late *lateConn
			config := b.Store.Pool().Config()
			config.MaxConns, config.ConnConfig.Tracer = 1, nil
			dial := config.ConnConfig.DialFunc
			config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
				if late != nil {
					return nil, errors.New("nor can the server be asked to end it")
				}
				conn, err := dial(ctx, network, addr)
				late = &lateConn{Conn: conn, held: make(chan struct{})}
				return late, err
			}
			pool, err := pgxpool.NewWithConfig(ctx, config)
			require.NoError(t, err)
			t.Cleanup(pool.Close)
			st := store.OnPool(pool)
			_, err = st.CompleteTaskFile(ctx, *c, files[0].File) // prepares the statement
			require.NoError(t, err)
			var backend int
			require.NoError(t, pool.QueryRow(ctx, `SELECT pg_backend_pid()`).Scan(&backend))

			late.left.Store(n + 1)
			waits, giveUp := context.WithCancel(ctx)
			defer giveUp()
			go func() {
				<-late.held
				giveUp()
			}()
			_, err = st.CompleteTaskFile(waits, *c, files[1].File)
			require.Error(t, err)
			type looked struct {
				store.TaskFile
				err error
			}
			settled := make(chan looked, 1)
			go func() {
				now, err := b.Store.SettledTaskFile(ctx, *c, files[1].ID)
				settled <- looked{now, err}
			}()
			require.Eventually(t, func() bool {
				return len(settled) == 1 || b.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 1
			}, 20*time.Second, 5*time.Millisecond)
			late.arrive(t)
			require.Eventually(t, func() bool {
				return b.count(`SELECT count(*) FROM pg_stat_activity WHERE pid = $1`, backend) == 0
			}, 20*time.Second, 5*time.Millisecond)
			got := <-settled
			require.NoError(t, got.err)
			now, err := b.Store.TaskFile(ctx, *c, files[1].ID)
			require.NoError(t, err)
			require.Equal(t, now.Key, got.Key)
			require.Equal(t, now.CompletedAt, got.CompletedAt)
		})
	}
}
