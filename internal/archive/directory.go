package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/taskloom/taskloom/internal/fault"
)

// Sizes and signatures of the ZIP format (APPNOTE 4.3).
const (
	localBytes   = 30
	headerBytes  = 46
	endBytes     = 22
	locatorBytes = 20
	end64Bytes   = 56
	// tailBytes is how much of the end archive/zip looks at for the end record.
	tailBytes = 65 << 10

	localSign   = "PK\x03\x04"
	headerSign  = "PK\x01\x02"
	endSign     = "PK\x05\x06"
	locatorSign = "PK\x06\x07"
	end64Sign   = "PK\x06\x06"
)

// Memory that a directory may take: so much an entry on average, and some to
// spare for few entries with long names.
const (
	roomPerEntry = 192
	roomToSpare  = 64 << 10
)

var (
	errDirectory = refuse("the ZIP's directory is damaged: make the archive anew and upload it whole")
	errOutside   = errors.New("a read outside of the directory")
)

// window is the end of an archive in memory, from its directory on. The
// standard library reads the directory from it and can get at nothing else, so
// that what it reads is bounded, and read from the source once.
type window struct {
	from int64
	data []byte
	// asked is the offset of the last read while probing; see offsetOf.
	asked   int64
	probing bool
}

// ReadAt reads from memory.
func (w *window) ReadAt(p []byte, off int64) (int, error) {
	if w.probing {
		w.asked = off
		clear(p)
		return copy(p, localSign) + max(0, len(p)-len(localSign)), nil
	}
	at := off - w.from
	if at < 0 || at > int64(len(w.data)) {
		return 0, errOutside
	}
	n := copy(p, w.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// offsetOf finds an entry's local header, whose offset archive/zip keeps for
// itself: asked for the data's offset it reads the header, and is given a made-up
// one. It costs no read of the source.
func (w *window) offsetOf(f interface{ DataOffset() (int64, error) }) int64 {
	w.probing, w.asked = true, -1
	defer func() { w.probing = false }()
	if _, err := f.DataOffset(); err != nil {
		return -1
	}
	return w.asked
}

// grow takes in what lies between from and the window.
func (w *window) grow(src Source, from int64) error {
	if from >= w.from {
		return nil
	}
	data := make([]byte, w.from-from, w.from-from+int64(len(w.data)))
	if err := readAt(src, data, from); err != nil {
		return err
	}
	w.data, w.from = append(data, w.data...), from
	return nil
}

// end is what the end of central directory record says, or its ZIP64 form.
type end struct {
	at            int64 // where the record begins: the directory lies right before it
	disk          uint32
	records       uint64
	bytes, offset uint64
}

// findDirectory reads the archive's end and its directory into memory, after it
// has judged what they declare.
func findDirectory(src Source, l *Limits) (*window, error) {
	size := src.Size()
	if size <= 0 {
		return nil, refuse("the archive is empty (0 bytes): upload the ZIP itself to upload_url with PUT")
	}
	w := &window{from: size}
	if err := w.grow(src, max(0, size-tailBytes)); err != nil {
		return nil, err
	}
	i := bytes.LastIndex(w.data[:max(0, len(w.data)-endBytes+len(endSign))], []byte(endSign))
	if i < 0 {
		return nil, noZIP(src)
	}
	// The record must end where the archive does. Otherwise it may be that of an
	// archive inside a file of one whose upload was cut off.
	comment := int(binary.LittleEndian.Uint16(w.data[i+endBytes-2:]))
	if after := len(w.data) - i - endBytes; after != comment {
		return nil, refuse("the ZIP does not end where its end record says: the upload was cut off, or other bytes follow; upload the file whole, with PUT and no form around it")
	}
	e, err := readEnd(src, w, i)
	if err != nil {
		return nil, err
	}
	start, err := e.start(src, l)
	if err != nil {
		return nil, err
	}
	if n := uint64(size - start); n > l.room()+tailBytes { //nolint:gosec // start lies in the archive
		return nil, tooLong(n, l)
	}
	if err := w.grow(src, start); err != nil {
		return nil, err
	}
	if n := countHeaders(w.data[start-w.from:], l.Entries); n > l.Entries {
		return nil, tooMany(uint64(n), l) //nolint:gosec // a count
	}
	return w, nil
}

// readEnd reads the record at i of the window, and the ZIP64 one before it under
// the same conditions as archive/zip does.
func readEnd(src Source, w *window, i int) (end, error) {
	le, b := binary.LittleEndian, w.data[i:]
	e := end{
		at: w.from + int64(i), disk: uint32(le.Uint16(b[4:])), records: uint64(le.Uint16(b[10:])),
		bytes: uint64(le.Uint32(b[12:])), offset: uint64(le.Uint32(b[16:])),
	}
	if e.records != 0xffff && e.bytes != 0xffff && e.offset != 0xffffffff || i < locatorBytes {
		return e, nil
	}
	b = w.data[i-locatorBytes:]
	if string(b[:4]) != locatorSign || le.Uint32(b[4:]) != 0 || le.Uint32(b[16:]) != 1 {
		return e, nil
	}
	at := le.Uint64(b[8:])
	if at > uint64(e.at) { //nolint:gosec // e.at is an offset
		return e, errDirectory
	}
	var r [end64Bytes]byte
	e.at = int64(at) //nolint:gosec // within the archive
	if e.at > src.Size()-end64Bytes {
		return e, errDirectory
	}
	if err := readAt(src, r[:], e.at); err != nil {
		return e, err
	}
	if string(r[:4]) != end64Sign {
		return e, errDirectory
	}
	e.disk, e.records = le.Uint32(r[16:]), le.Uint64(r[32:])
	e.bytes, e.offset = le.Uint64(r[40:]), le.Uint64(r[48:])
	return e, nil
}

// start judges what the record declares and tells where the directory begins.
func (e *end) start(src Source, l *Limits) (int64, error) {
	switch {
	case e.disk != 0 && e.disk != 0xffff:
		return 0, refuse("this is one part of a split ZIP: make a single archive and upload that")
	case e.records > uint64(l.Entries): //nolint:gosec // limits are not negative
		return 0, tooMany(e.records, l)
	case e.bytes > uint64(e.at) || e.offset > uint64(e.at): //nolint:gosec // e.at is an offset
		return 0, refuse("the ZIP's directory lies outside of the file, which was cut off or damaged: upload it again, whole")
	case e.bytes > l.room():
		return 0, tooLong(e.bytes, l)
	}
	start, offset := e.at-int64(e.bytes), int64(e.offset) //nolint:gosec // both at most e.at
	if offset > start {
		return 0, refuse("the ZIP lacks its beginning, which was cut off: upload it again, whole")
	}
	if offset == start {
		return start, nil
	}
	// Something stands before the ZIP, such as a program that unpacks it. Then
	// offsets count from the ZIP's beginning, but some tools count from the file's:
	// archive/zip takes the latter when it finds a header there.
	var sign [4]byte
	if err := readAt(src, sign[:], offset); err != nil {
		return 0, err
	}
	if string(sign[:]) == headerSign {
		start = offset
	}
	return start, nil
}

// room is the number of bytes that a directory may have.
func (l *Limits) room() uint64 {
	return uint64(l.Entries)*roomPerEntry + roomToSpare //nolint:gosec // limits are not negative
}

// countHeaders counts the headers from the beginning of data on, up to one more
// than most: a directory may hold 65,536 times as many as it declares.
func countHeaders(data []byte, most int) int {
	n := 0
	for n <= most && len(data) >= headerBytes && string(data[:4]) == headerSign {
		le := binary.LittleEndian
		next := headerBytes + int(le.Uint16(data[28:])) + int(le.Uint16(data[30:])) + int(le.Uint16(data[32:]))
		if next > len(data) {
			break
		}
		data = data[next:]
		n++
	}
	return n
}

func tooLong(n uint64, l *Limits) *fault.Error {
	return refuse("the ZIP's directory has %s, at most %s allowed: shorten the names of its entries or split the archive",
		sizeText(n), sizeText(l.room()))
}

func tooMany(n uint64, l *Limits) *fault.Error {
	if n == uint64(l.Entries)+1 { //nolint:gosec // limits are not negative
		return refuse("the ZIP has more than %d entries, the most allowed: split it into several uploads", l.Entries)
	}
	return refuse("the ZIP has %d entries, at most %d allowed: split it into several uploads", n, l.Entries)
}
