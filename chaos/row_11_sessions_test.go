package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/taskloom/taskloom/internal/stacktest"
)

// noIdleTransactions checks what the product's sessions ask Postgres for,
// whatever the server's defaults: none of them may hold locks or snapshots while
// nothing happens, nor wait for a lock for ever. A session's settings are not
// to be seen from another one, so a process of each kind is started that meets
// this program in the place of Postgres.
func (r *Run) noIdleTransactions(ctx context.Context) error {
	for _, kind := range []string{ofServe, ofWorker} {
		asked, err := r.asksFor(ctx, kind)
		if err != nil {
			return fmt.Errorf("see what %s asks Postgres for: %w", kind, err)
		}
		r.Logf("a session of %s: %v", kind, asked)
		for _, name := range []string{"idle_in_transaction_session_timeout", "lock_timeout"} {
			if v := asked[name]; v == "" || v == "0" {
				r.Violate("I10: sessions of %s do not set %s (%q)", kind, name, v)
			}
		}
		if asked["application_name"] != "taskloom" {
			r.Violate("sessions of %s call themselves %q", kind, asked["application_name"])
		}
	}
	// Whoever has another name was opened in another way, with other settings.
	others, err := r.Count(ctx, `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> 'taskloom'`)
	if err == nil && others > 0 {
		r.Violate("I10: %d sessions of the product are not called taskloom: who knows what they ask for", others)
	}
	return err
}

// asksFor starts a process and returns the parameters of the first session that
// it opens.
func (r *Run) asksFor(ctx context.Context, kind string) (map[string]string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer l.Close()
	if err := l.(*net.TCPListener).SetDeadline(time.Now().Add(recoverWithin)); err != nil {
		return nil, err
	}
	u, err := url.Parse(r.Value("DATABASE_URL"))
	if err != nil {
		return nil, err
	}
	u.Host = l.Addr().String()
	p := r.Run(kind+"-asks", []string{kind}, "DATABASE_URL="+u.String(), "ADDR="+stacktest.FreeAddr(r.t), "METRICS_ADDR="+stacktest.FreeAddr(r.t))
	defer p.Stop()
	for {
		conn, err := l.Accept()
		if err != nil {
			return nil, err
		}
		asked, err := startup(conn)
		_ = conn.Close()
		if errors.Is(err, io.EOF) {
			continue // it was given up before it said anything; the next one comes
		}
		_ = l.Close() // what the process asks for next fails at once, and it stops
		return asked, err
	}
}

// startup reads how a session begins, without TLS.
func startup(conn net.Conn) (map[string]string, error) {
	if err := conn.SetDeadline(time.Now().Add(callTimeout)); err != nil {
		return nil, err
	}
	backend := pgproto3.NewBackend(conn, conn)
	for {
		m, err := backend.ReceiveStartupMessage()
		if err != nil {
			return nil, err
		}
		switch m := m.(type) {
		case *pgproto3.StartupMessage:
			return m.Parameters, nil
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := conn.Write([]byte("N")); err != nil {
				return nil, err
			}
		default:
			return nil, errors.New("that is no session")
		}
	}
}
