package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"
)

// serverFloor answers with a page as a program of thirty lines would: net/http,
// the one query, encoding/json. It asks for no key and knows no cursor, no
// entity tag, no request id, no log and no metric. What the product costs over
// it is the product; what it costs over the query is HTTP and JSON.
type serverFloor struct {
	page  *pageFloor
	pager *pager
}

func (b *bench) newServerFloor(ctx context.Context, page *pageFloor) (*serverFloor, error) {
	f := &serverFloor{page: page}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: f, ReadHeaderTimeout: time.Minute}
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			b.say("the floor's listener ended: %v", err)
		}
	}()
	b.later(func() { _ = server.Close() }) // nobody is left to answer
	c := page.world.newClient(1)
	c.base = "http://" + l.Addr().String()
	f.pager = &pager{client: c, path: "/"}
	return f, nil
}

// ServeHTTP answers with the page. One caller asks, so one connection does.
func (f *serverFloor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	type summary struct {
		Total      int `json:"total"`
		Finished   int `json:"finished"`
		InProgress int `json:"in_progress"`
		Pending    int `json:"pending"`
	}
	type task struct {
		ID          int64     `json:"id"`
		Status      string    `json:"status"`
		NodeSummary summary   `json:"node_summary"`
		CreatedAt   time.Time `json:"created_at"`
		UpdatedAt   time.Time `json:"updated_at"`
	}
	rows, err := f.page.page(r.Context())
	if err != nil {
		http.Error(w, "no page", http.StatusInternalServerError)
		return
	}
	var answer struct {
		Tasks      []task  `json:"tasks"`
		NextCursor *string `json:"next_cursor"`
		HasMore    bool    `json:"has_more"`
	}
	answer.HasMore = len(rows) > pageSize
	for _, t := range rows[:min(len(rows), pageSize)] {
		answer.Tasks = append(answer.Tasks, task{
			t.id, t.status, summary{t.total, t.finished, t.inProgress, t.pending}, t.createdAt.UTC(), t.updatedAt.UTC(),
		})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a caller who left misses it
}
