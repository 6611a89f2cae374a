package zipgen

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArchivesAreWhatTheySay(t *testing.T) {
	t.Parallel()
	for name, a := range map[string]Archive{
		"stored":           {Files: 3, Size: 100_000},
		"deflated":         {Files: 3, Size: 100_000, Deflated: true, Seed: 7},
		"a block, exactly": {Files: 2, Size: 65_535, Deflated: true},
		"large":            {Files: 1, Size: 3_000_000, Deflated: true},
		"empty files":      {Files: 2, Deflated: true},
		"no files":         {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var written bytes.Buffer
			require.NoError(t, a.Write(&written))
			length, err := a.Length()
			require.NoError(t, err)
			require.EqualValues(t, written.Len(), length)

			z, err := zip.NewReader(bytes.NewReader(written.Bytes()), length)
			require.NoError(t, err)
			require.Len(t, z.File, a.Files)
			sums, err := a.Sums()
			require.NoError(t, err)
			for i, f := range z.File {
				require.Equal(t, a.Name(i), f.Name)
				require.Equal(t, a.Deflated, f.Method == zip.Deflate)
				r, err := f.Open()
				require.NoError(t, err)
				content, err := io.ReadAll(r)
				require.NoError(t, err)
				require.Len(t, content, int(a.Size))
				require.Equal(t, sums[i], sha256.Sum256(content))
			}
		})
	}
}

func TestContentsDiffer(t *testing.T) {
	t.Parallel()
	sums := map[[sha256.Size]byte]bool{}
	for _, seed := range []uint64{1, 2} {
		got, err := Archive{Files: 4, Size: 10, Seed: seed}.Sums()
		require.NoError(t, err)
		for _, s := range got {
			sums[s] = true
		}
	}
	require.Len(t, sums, 8)
}
