package archive

import (
	"archive/zip"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"sync"
)

// streamFrom is the packed size above which an entry is read as one stream
// instead of through ReadAt.
const streamFrom = 1 << 20

// Read yields exactly Size bytes whose checksum fits, or fails with *EntryError;
// an error of the source comes through. What does not check out fails before its
// last bytes are handed out, so that nobody who counts takes it for whole.
func (a *Archive) Read(e *Entry) (io.ReadCloser, error) {
	if e.Problem != "" {
		return nil, &EntryError{Name: e.Name, Message: e.Problem}
	}
	at, err := a.dataOffset(e)
	if err != nil {
		return nil, err
	}
	raw := &packed{src: io.NewSectionReader(a.src, at, e.packed), left: e.packed}
	if e.packed > streamFrom {
		stream, err := a.src.Stream(at, e.packed)
		if err != nil {
			return nil, err
		}
		raw.src, raw.close = stream, stream.Close
	}
	r := &reader{entry: e, raw: raw, body: raw, left: e.Size}
	if e.method == zip.Deflate {
		r.inflater = inflaters.Get().(io.ReadCloser)
		r.body = r.inflater
		if err := r.inflater.(flate.Resetter).Reset(raw, nil); err != nil {
			return nil, errors.Join(err, r.Close())
		}
	}
	return r, nil
}

// dataOffset reads the local header, which only must agree where it matters:
// names and sizes are taken from the directory throughout.
func (a *Archive) dataOffset(e *Entry) (int64, error) {
	var b [localBytes]byte
	if err := readAt(a.src, b[:], e.offset); err != nil {
		return 0, err
	}
	le := binary.LittleEndian
	switch {
	case string(b[:4]) != localSign:
		return 0, e.fail("does not begin where the ZIP's directory says: make the archive anew")
	case le.Uint16(b[8:]) != e.method || le.Uint16(b[6:])&1 != 0:
		return 0, e.fail("is described in two ways that contradict each other: make the archive anew")
	}
	at := e.offset + localBytes + int64(le.Uint16(b[26:])) + int64(le.Uint16(b[28:]))
	if e.packed > a.src.Size()-at {
		return 0, e.fail("ends outside of the archive, which is damaged: make the archive anew")
	}
	return at, nil
}

func (e *Entry) fail(wrong string) *EntryError {
	return &EntryError{Name: e.Name, Message: "the entry " + quote(e.Name) + " " + wrong}
}

// inflaters keeps the 40 KB that each one takes.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// packed reads the packed bytes of an entry and remembers how its source failed.
type packed struct {
	src   io.Reader
	close func() error
	left  int64
	err   error // of the source
}

// Read reads at most what the directory says the entry has.
func (p *packed) Read(b []byte) (int, error) {
	if p.err != nil {
		return 0, p.err
	}
	if p.left == 0 {
		return 0, io.EOF
	}
	if int64(len(b)) > p.left {
		b = b[:p.left]
	}
	n, err := p.src.Read(b)
	p.left -= int64(n)
	switch {
	case err == nil || p.left == 0:
	case errors.Is(err, io.EOF): // it lies within the archive: the source ended too early
		p.err = io.ErrUnexpectedEOF
	default:
		p.err = err
	}
	return n, p.err
}

// reader unpacks one entry and holds it to its size and checksum.
type reader struct {
	entry    *Entry
	raw      *packed
	body     io.Reader
	inflater io.ReadCloser // nil when it is stored as it is
	left     int64
	crc      uint32
	err      error // sticky
}

// Read unpacks at most one byte more than the entry declares.
func (r *reader) Read(b []byte) (int, error) {
	if r.err != nil || len(b) == 0 {
		return 0, r.err
	}
	if int64(len(b)) > r.left {
		b = b[:r.left]
	}
	n, err := r.body.Read(b)
	r.crc = crc32.Update(r.crc, crc32.IEEETable, b[:n])
	r.left -= int64(n)
	switch {
	case r.left == 0:
		r.err = r.end(err)
	case errors.Is(err, io.EOF):
		r.err = r.entry.fail("unpacks to fewer bytes than it declares: make the archive anew")
	case err != nil:
		r.err = r.broken(err)
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return 0, r.err
	}
	return n, r.err
}

// end is what follows the last declared byte, which came with err: io.EOF when
// all is well.
func (r *reader) end(err error) error {
	if err == nil {
		var more [1]byte
		var n int
		if n, err = io.ReadFull(r.body, more[:]); n > 0 {
			return r.entry.fail("unpacks to more bytes than it declares: make the archive anew")
		}
	}
	switch {
	case !errors.Is(err, io.EOF):
		return r.broken(err)
	case r.crc != r.entry.crc:
		return r.entry.fail("has data that does not fit its checksum, so it is damaged: make the archive anew")
	}
	return io.EOF
}

// broken tells a failing source from data that does not unpack.
func (r *reader) broken(err error) error {
	if r.raw.err != nil {
		return r.raw.err
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return r.entry.fail("ends in the middle of its packed data: make the archive anew")
	}
	return r.entry.fail("has packed data that is damaged: make the archive anew")
}

// Close lets go of the source.
func (r *reader) Close() error {
	if r.inflater != nil {
		inflaters.Put(r.inflater)
		r.inflater = nil
	}
	if r.err == nil {
		r.err = fs.ErrClosed
	}
	if r.raw.close == nil {
		return nil
	}
	stop := r.raw.close
	r.raw.close = nil
	return stop()
}
