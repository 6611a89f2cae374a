package alerts_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/taskloom/taskloom/internal/alerttest"
)

const dashboardFile = "../grafana/taskloom.json"

// dashboard is the part of Grafana's schema that is ours to keep.
type dashboard struct {
	UID           string `json:"uid"`
	Title         string `json:"title"`
	SchemaVersion int    `json:"schemaVersion"`
	Templating    struct {
		List []struct {
			Name  string `json:"name"`
			Type  string `json:"type"`
			Query any    `json:"query"`
		} `json:"list"`
	} `json:"templating"`
	Panels []panel `json:"panels"`
}

type panel struct {
	ID          int        `json:"id"`
	Type        string     `json:"type"`
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Datasource  datasource `json:"datasource"`
	GridPos     struct{ X, Y, W, H int }
	FieldConfig struct {
		Defaults struct {
			Unit string `json:"unit"`
		} `json:"defaults"`
	} `json:"fieldConfig"`
	Targets []struct {
		RefID      string     `json:"refId"`
		Expr       string     `json:"expr"`
		Datasource datasource `json:"datasource"`
	} `json:"targets"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

func theDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	raw, err := os.ReadFile(dashboardFile)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &d))
	return d
}

// width is how many columns Grafana's grid has.
const width = 24

func TestTheDashboardCanBeImported(t *testing.T) {
	t.Parallel()
	d := theDashboard(t)
	require.NotEmpty(t, d.UID)
	require.NotEmpty(t, d.Title)
	require.GreaterOrEqual(t, d.SchemaVersion, 39)
	require.Len(t, d.Templating.List, 1)
	require.Equal(t, "datasource", d.Templating.List[0].Name)
	require.Equal(t, "datasource", d.Templating.List[0].Type)
	require.Equal(t, "prometheus", d.Templating.List[0].Query)
	ids, titles, taken := map[int]bool{}, map[string]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		require.Positive(t, p.ID, p.Title)
		require.False(t, ids[p.ID], "panel %q has an id that another one has", p.Title)
		require.NotEmpty(t, p.Title, "panel %d", p.ID)
		require.False(t, titles[p.Title], "two panels %q", p.Title)
		ids[p.ID], titles[p.Title] = true, true
		g := p.GridPos
		require.Positive(t, g.W*g.H, p.Title)
		require.GreaterOrEqual(t, min(g.X, g.Y), 0, p.Title)
		require.LessOrEqual(t, g.X+g.W, width, p.Title)
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				require.Empty(t, taken[[2]int{x, y}], "panel %q overlaps", p.Title)
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			require.Empty(t, p.Targets, "a row shows nothing by itself")
			continue
		}
		require.Contains(t, []string{"timeseries", "stat"}, p.Type, p.Title)
		require.NotEmpty(t, p.Description, p.Title)
		require.NotEmpty(t, p.FieldConfig.Defaults.Unit, p.Title)
		require.NotEmpty(t, p.Targets, p.Title)
		from := datasource{"prometheus", "${datasource}"}
		require.Equal(t, from, p.Datasource, p.Title)
		refs := map[string]bool{}
		for _, target := range p.Targets {
			require.Equal(t, from, target.Datasource, p.Title)
			require.NotEmpty(t, target.RefID, p.Title)
			require.False(t, refs[target.RefID], "two targets %s of %q", target.RefID, p.Title)
			refs[target.RefID] = true
			require.NotEmpty(t, alerttest.MetricsIn(target.Expr), "panel %q shows no metric: %s", p.Title, target.Expr)
		}
	}
}

// TestTheDashboardShowsEveryAlert demands a panel for whatever an alert reads.
func TestTheDashboardShowsEveryAlert(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, p := range theDashboard(t).Panels {
		for _, target := range p.Targets {
			for _, name := range alerttest.MetricsIn(target.Expr) {
				shown[baseName(name)] = true
			}
		}
	}
	for _, r := range alerttest.Rules(t) {
		for _, name := range alerttest.MetricsIn(r.Expr) {
			if recorded.MatchString(name) {
				continue // made of others, by a rule
			}
			require.True(t, shown[baseName(name)], "%s%s reads %s, which no panel shows", r.Alert, r.Record, name)
		}
	}
}

// TestTheDashboardCountsWhoIsTurnedAway demands that the shares of errors that it
// shows are those that the alerts judge.
func TestTheDashboardCountsWhoIsTurnedAway(t *testing.T) {
	t.Parallel()
	shares := 0
	for _, p := range theDashboard(t).Panels {
		for _, target := range p.Targets {
			if strings.Contains(target.Expr, `status=~"5.."`) && strings.Contains(target.Expr, " / ") {
				shares++
				require.Equal(t, 2, strings.Count(target.Expr, `overload_refused_total{at="door"}`), "%s: above and below the line", p.Title)
			}
		}
	}
	require.Equal(t, 4, shares)
}

var (
	recorded  = regexp.MustCompile(`^taskloom:`)
	histogram = regexp.MustCompile(`_(bucket|count|sum)$`)
)

// baseName is a metric's name as its TYPE line has it.
func baseName(name string) string { return histogram.ReplaceAllString(name, "") }
