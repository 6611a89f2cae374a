package config

// Uploads bound what one archive may hold; the worker refuses what is beyond.
type Uploads struct {
	// MaxArchiveBytes is the largest archive; object stores take no more than
	// 5 GiB at once.
	MaxArchiveBytes int64 `env:"MAX_ARCHIVE_BYTES" envDefault:"5368709120"`
	// MaxEntries is the largest number of entries, folders included.
	MaxEntries int `env:"MAX_ENTRIES" envDefault:"100000"`
	// MaxTotalBytes bounds what all files of an archive unpack to, MaxFileBytes
	// one of them.
	MaxTotalBytes int64 `env:"MAX_TOTAL_BYTES" envDefault:"21474836480"`
	MaxFileBytes  int64 `env:"MAX_FILE_BYTES" envDefault:"5368709120"`
	// MaxRatio bounds unpacked by packed size of one file.
	MaxRatio int `env:"MAX_RATIO" envDefault:"200"`
}

// uploadVariables are the variables by their field. One that is no number is
// left at 0, of which check tells.
var uploadVariables = map[string]string{
	"MaxArchiveBytes": "UPLOAD_MAX_ARCHIVE_BYTES", "MaxEntries": "UPLOAD_MAX_ENTRIES",
	"MaxTotalBytes": "UPLOAD_MAX_TOTAL_BYTES", "MaxFileBytes": "UPLOAD_MAX_FILE_BYTES", "MaxRatio": "UPLOAD_MAX_RATIO",
}

// Bounds of the bounds: what an object store takes at once, and what the
// memory of a worker is made for.
const (
	mostObject  = 5 << 30
	mostEntries = 1_000_000
	mostTotal   = 1 << 40
	mostRatio   = 100_000
)

func (u Uploads) check(p *problems) {
	within := func(field string, n, most int64) {
		if n < 1 || n > most {
			p.add(uploadVariables[field], "must be a whole number from 1 to %d", most)
		}
	}
	within("MaxArchiveBytes", u.MaxArchiveBytes, mostObject)
	within("MaxEntries", int64(u.MaxEntries), mostEntries)
	within("MaxTotalBytes", u.MaxTotalBytes, mostTotal)
	within("MaxFileBytes", u.MaxFileBytes, mostObject)
	within("MaxRatio", int64(u.MaxRatio), mostRatio)
}
