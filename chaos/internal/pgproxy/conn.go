package pgproxy

import (
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgproto3"
)

// maxMessage bounds what one message may have, in bytes: the protocol's own
// bound would let a broken length eat all memory.
const maxMessage = 256 << 20

// errCut ends the reading of a connection that the proxy cut.
var errCut = errors.New("the proxy cut the connection")

// conn is one client with its own connection to the server. Two goroutines
// carry the messages: toServer and toClient.
type conn struct {
	proxy          *Proxy
	client, server net.Conn
	backend        *pgproto3.Backend  // speaks with the client
	frontend       *pgproto3.Frontend // speaks with the server
	cutOnce        sync.Once

	// status is the server's last word on the transaction: 'I' none, 'T' in
	// one, 'E' in a failed one.
	status atomic.Uint32
	// muted says that the client hears nothing any more: the next time the
	// server is ready, its commit is done and the connection is cut.
	muted atomic.Bool

	// cutting is the cut that muted the connection, for toClient.
	cutting *cutting

	// Of toServer alone: the prepared statements and portals by name, what was run
	// since the last commit, and whether something of it since the last Sync wrote.
	statements map[string]string
	portals    map[string]portal
	said       []string
	wrote      bool
}

// portal is a statement with its arguments: said is both, as a cut looks for them.
type portal struct{ sql, said string }

// shortArgument is the size, in bytes, up to which an argument counts as said: kinds,
// names and reasons, and no contents.
const shortArgument = 64

// saying puts the short arguments behind a statement, each after a zero byte.
func saying(sql string, arguments [][]byte) string {
	var b strings.Builder
	b.WriteString(sql)
	for _, a := range arguments {
		b.WriteByte(0)
		if len(a) <= shortArgument {
			b.Write(a)
		}
	}
	return b.String()
}

func newConn(p *Proxy, client, server net.Conn) *conn {
	c := &conn{proxy: p, client: client, server: server, statements: map[string]string{}, portals: map[string]portal{}}
	c.status.Store('I')
	c.backend = pgproto3.NewBackend(client, client)
	c.frontend = pgproto3.NewFrontend(server, server)
	c.backend.SetMaxBodyLen(maxMessage)
	return c
}

// cut closes both sides, the client's with a reset as a dying network does.
func (c *conn) cut() {
	c.cutOnce.Do(func() {
		if tcp, ok := c.client.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = c.client.Close()
		_ = c.server.Close()
	})
}

// run carries messages until one side is gone.
func (c *conn) run() {
	defer c.cut()
	if err := c.startup(); err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		defer c.cut()
		_ = c.toClient() // an end is an end, whoever caused it
	})
	_ = c.toServer()
	if !c.muted.Load() {
		c.cut()
	}
	back.Wait()
}

// startup passes on the first message. Encryption is refused, since what is
// encrypted cannot be watched.
func (c *conn) startup() error {
	for {
		msg, err := c.backend.ReceiveStartupMessage()
		if err != nil {
			return err
		}
		switch m := msg.(type) {
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := c.client.Write([]byte{'N'}); err != nil {
				return err
			}
		case *pgproto3.CancelRequest:
			raw, err := m.Encode(nil)
			if err != nil {
				return err
			}
			_, err = c.server.Write(raw)
			return errors.Join(err, errCut) // nothing follows
		default:
			c.frontend.Send(msg)
			return c.frontend.Flush()
		}
	}
}

// toServer carries what the client says, and decides about commits.
func (c *conn) toServer() error {
	for {
		msg, err := c.backend.Receive()
		if err != nil {
			return err
		}
		ends := false // the message makes the server commit
		flush := true
		switch m := msg.(type) {
		case *pgproto3.Query:
			if beginWords.MatchString(m.String) {
				c.said = c.said[:0]
			}
			c.said = append(c.said, m.String)
			ends = commits(m.String, byte(c.status.Load())) //nolint:gosec // it was a byte
		case *pgproto3.Parse:
			c.statements[m.Name] = m.Query
			flush = false
		case *pgproto3.Bind:
			sql := c.statements[m.PreparedStatement]
			c.portals[m.DestinationPortal] = portal{sql, saying(sql, m.Parameters)}
			flush = false
		case *pgproto3.Execute:
			run := c.portals[m.Portal]
			c.said = append(c.said, run.said)
			c.wrote = c.wrote || Writes(run.sql)
			flush = false
		case *pgproto3.Describe, *pgproto3.Close:
			flush = false
		case *pgproto3.Sync:
			ends = c.wrote && c.status.Load() == 'I'
			c.wrote = false
			if !ends && c.status.Load() == 'I' {
				c.said = c.said[:0] // it only read
			}
		}
		if ends {
			cut := c.proxy.commit(c.said)
			c.said = c.said[:0]
			switch cut.where {
			case Before:
				c.proxy.did(cut)
				c.cut()
				return errCut
			case After:
				c.cutting = cut
				c.muted.Store(true)
			case None:
			}
		}
		c.frontend.Send(msg)
		if flush {
			if err := c.frontend.Flush(); err != nil {
				return err
			}
		}
		if c.muted.Load() {
			return nil // toClient ends it when the server has committed
		}
	}
}

// toClient carries what the server says.
func (c *conn) toClient() error {
	failed := false
	for {
		msg, err := c.frontend.Receive()
		if err != nil {
			return err
		}
		switch m := msg.(type) {
		case *pgproto3.ReadyForQuery:
			c.status.Store(uint32(m.TxStatus))
			if c.muted.Load() {
				if failed {
					c.proxy.missed(c.cutting)
				} else {
					c.proxy.did(c.cutting)
				}
				return errCut
			}
		case *pgproto3.ErrorResponse:
			failed = c.muted.Load()
		default:
			if auth, ok := authType(msg); ok {
				if err := c.backend.SetAuthType(auth); err != nil {
					return err
				}
			}
		}
		if c.muted.Load() {
			continue
		}
		c.backend.Send(msg)
		// Rows go out together; what a client may wait for goes out at once.
		if waits(msg) || c.frontend.ReadBufferLen() == 0 {
			if err := c.backend.Flush(); err != nil {
				return err
			}
		}
	}
}

// authType names the way of authentication that a message of the server asks
// for: the client's answer can only be read by who knows it.
func authType(msg pgproto3.BackendMessage) (uint32, bool) {
	switch msg.(type) {
	case *pgproto3.AuthenticationOk:
		return pgproto3.AuthTypeOk, true
	case *pgproto3.AuthenticationCleartextPassword:
		return pgproto3.AuthTypeCleartextPassword, true
	case *pgproto3.AuthenticationMD5Password:
		return pgproto3.AuthTypeMD5Password, true
	case *pgproto3.AuthenticationSASL:
		return pgproto3.AuthTypeSASL, true
	case *pgproto3.AuthenticationSASLContinue:
		return pgproto3.AuthTypeSASLContinue, true
	case *pgproto3.AuthenticationSASLFinal:
		return pgproto3.AuthTypeSASLFinal, true
	}
	return 0, false
}

// waits reports whether a message may be the last for a while.
func waits(msg pgproto3.BackendMessage) bool {
	switch msg.(type) {
	case *pgproto3.DataRow, *pgproto3.RowDescription, *pgproto3.ParameterStatus, *pgproto3.BindComplete,
		*pgproto3.ParseComplete, *pgproto3.CommandComplete, *pgproto3.ParameterDescription, *pgproto3.NoData, *pgproto3.CopyData:
		return false
	}
	return true
}
