// Package grpcproxy stands in front of a Temporal server and makes it gray: it
// is away, or a share of the calls fails, some of them after the server has
// done what they asked for. It forwards bytes and knows no message.
package grpcproxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// maxMessage is more than Temporal's own limit.
const maxMessage = 128 << 20

// Faults are shares of all calls: 0.3 is three in ten.
type Faults struct {
	// Unavailable are refused before they reach the server.
	Unavailable float64
	// Lost reach the server, which does what they ask for, and are answered
	// with Unavailable all the same.
	Lost float64
	// Poison refuses calls for good whose message has this text in it: the id
	// of a run, say. "" refuses none.
	Poison string
}

// Stats count calls.
type Stats struct{ Calls, Refused, Lost int64 }

// Proxy forwards calls to one server.
type Proxy struct {
	addr     string
	upstream *grpc.ClientConn

	mu     sync.Mutex
	server *grpc.Server // nil while it is away
	faults Faults
	rand   *rand.Rand

	calls, refused, lost atomic.Int64
}

// Listen starts a proxy on a free port of 127.0.0.1. upstream is the server's
// host:port; seed decides which calls fail.
func Listen(ctx context.Context, upstream string, seed uint64) (*Proxy, error) {
	return ListenAt(ctx, "127.0.0.1", upstream, seed)
}

// ListenAt is Listen at another address of this machine.
func ListenAt(ctx context.Context, host, upstream string, seed uint64) (*Proxy, error) {
	conn, err := grpc.NewClient(upstream, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(raw{}), grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)))
	if err != nil {
		return nil, fmt.Errorf("make a client for %s: %w", upstream, err)
	}
	p := &Proxy{upstream: conn, rand: rand.New(rand.NewPCG(seed, 0x6e9c))} //nolint:gosec // chooses victims, guards nothing
	if err := p.listen(ctx, net.JoinHostPort(host, "0")); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Proxy) listen(ctx context.Context, addr string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for Temporal clients: %w", err)
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(p.forward), grpc.ForceServerCodecV2(raw{}),
		grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage))
	p.addr, p.server = l.Addr().String(), server
	go func() { _ = server.Serve(l) }()
	return nil
}

// Addr is the proxy's own host:port.
func (p *Proxy) Addr() string { return p.addr }

// Set replaces the faults; the zero value heals.
func (p *Proxy) Set(f Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = f
}

// Down takes the proxy away: connections are cut and refused until Up.
func (p *Proxy) Down() {
	p.mu.Lock()
	server := p.server
	p.server = nil
	p.mu.Unlock()
	if server != nil {
		server.Stop()
	}
}

// Up brings the proxy back at its address.
func (p *Proxy) Up(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return nil
	}
	return p.listen(ctx, p.addr)
}

// Stats returns what was seen up to now.
func (p *Proxy) Stats() Stats {
	return Stats{Calls: p.calls.Load(), Refused: p.refused.Load(), Lost: p.lost.Load()}
}

// Close ends the proxy.
func (p *Proxy) Close() error {
	p.Down()
	return p.upstream.Close()
}

// decide says what becomes of a call.
func (p *Proxy) decide() (refuse, lose bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.rand.Float64()
	return at < p.faults.Unavailable, at >= p.faults.Unavailable && at < p.faults.Unavailable+p.faults.Lost
}

func (p *Proxy) poisoned(message []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.faults.Poison != "" && bytes.Contains(message, []byte(p.faults.Poison))
}

// forward is one call: Temporal's are one message there and one back.
func (p *Proxy) forward(_ any, in grpc.ServerStream) error {
	p.calls.Add(1)
	method, _ := grpc.MethodFromServerStream(in)
	refuse, lose := p.decide()
	if refuse {
		p.refused.Add(1)
		return status.Error(codes.Unavailable, "the proxy refuses the call")
	}
	ctx := in.Context()
	if md, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, md)
	}
	var request, answer frame
	if err := in.RecvMsg(&request); err != nil {
		if err == io.EOF { //nolint:errorlint // as gRPC gives it
			return status.Error(codes.Internal, "a call without a message")
		}
		return err
	}
	if p.poisoned(request.content) {
		p.refused.Add(1)
		return status.Error(codes.InvalidArgument, "the proxy does not like the message")
	}
	var header, trailer metadata.MD
	err := p.upstream.Invoke(ctx, method, &request, &answer, grpc.Header(&header), grpc.Trailer(&trailer))
	if lose {
		p.lost.Add(1)
		return status.Error(codes.Unavailable, "the proxy lost the answer")
	}
	_ = in.SetHeader(header) // an answer without its headers is still one
	in.SetTrailer(trailer)
	if err != nil {
		return err
	}
	return in.SendMsg(&answer)
}

// frame is a message as its bytes.
type frame struct{ content []byte }

// raw passes messages through.
type raw struct{}

var _ encoding.CodecV2 = raw{}

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*frame)
	if !ok {
		return nil, fmt.Errorf("%T is no frame", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(f.content)}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*frame)
	if !ok {
		return fmt.Errorf("%T is no frame", v)
	}
	f.content = data.Materialize()
	return nil
}

func (raw) Name() string { return "proto" }
