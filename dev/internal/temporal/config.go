// Package temporal runs a Temporal server and its Web UI in this process, with
// Postgres as their store, so that one backup covers the product and its runs.
package temporal

import (
	"fmt"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/primitives"
)

// Config says where the server listens and where its database is.
type Config struct {
	// PostgresAddr is host:port; the databases temporal and
	// temporal_visibility are made there.
	PostgresAddr, PostgresUser, PostgresPassword string
	// Frontend is the port of the gRPC API, UI of the Web UI (0: none).
	Frontend, UI int
	// History, Matching and Worker are the ports that the services use among themselves.
	History, Matching, Worker int
}

const (
	host       = "127.0.0.1"
	plugin     = "postgres12_pgx"
	mainDB     = "temporal"
	visibility = "temporal_visibility"
	// shards can never be changed once a database was made with them; one of before
	// keeps its own number. A shard does its writes one after the other: with four,
	// what people did beside archives and creations stood in line for 16 s (p95) on
	// two cores, where a write takes 30 ms, while the processors were shared by all.
	shards = 16
	// Each of the four services has a pool of its own for each database, and
	// Postgres allows 200 connections in all: at least 80 stay for the product.
	mainConns       = 20
	visibilityConns = 10
)

func (c Config) addr() string { return fmt.Sprintf("%s:%d", host, c.Frontend) }

func (c Config) sql(database string, conns int) *config.SQL {
	return &config.SQL{
		PluginName: plugin, DatabaseName: database,
		ConnectAddr: c.PostgresAddr, ConnectProtocol: "tcp",
		User: c.PostgresUser, Password: c.PostgresPassword,
		MaxConns: conns, MaxIdleConns: conns, MaxConnLifetime: time.Hour,
	}
}

func (c Config) server() *config.Config {
	const clusterName = "active"
	service := func(port int) config.Service {
		var s config.Service
		s.RPC.GRPCPort, s.RPC.BindOnIP = port, host
		return s
	}
	conf := &config.Config{
		Persistence: config.Persistence{
			DefaultStore: "main", VisibilityStore: "visibility", NumHistoryShards: shards,
			DataStores: map[string]config.DataStore{
				"main":       {SQL: c.sql(mainDB, mainConns)},
				"visibility": {SQL: c.sql(visibility, visibilityConns)},
			},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: clusterName, CurrentClusterName: clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{clusterName: {
				Enabled: true, InitialFailoverVersion: 1, RPCAddress: c.addr(),
				ClusterID: "00000000-0000-0000-0000-000000000001",
			}},
		},
		Services: map[string]config.Service{
			string(primitives.FrontendService): service(c.Frontend),
			string(primitives.HistoryService):  service(c.History),
			string(primitives.MatchingService): service(c.Matching),
			string(primitives.WorkerService):   service(c.Worker),
		},
	}
	conf.DCRedirectionPolicy.Policy = "noop"
	conf.Archival.History.State, conf.Archival.Visibility.State = "disabled", "disabled"
	conf.NamespaceDefaults.Archival.History.State = "disabled"
	conf.NamespaceDefaults.Archival.Visibility.State = "disabled"
	conf.PublicClient.HostPort = c.addr()
	conf.Global.Membership.MaxJoinDuration = 30 * time.Second
	conf.Global.Membership.BroadcastAddress = host
	return conf
}

// hosts names the services' addresses outright, so that no gossip is needed to
// find them.
func (c Config) hosts() map[primitives.ServiceName]static.Hosts {
	at := func(port int) static.Hosts { return static.SingleLocalHost(fmt.Sprintf("%s:%d", host, port)) }
	return map[primitives.ServiceName]static.Hosts{
		primitives.FrontendService: at(c.Frontend),
		primitives.HistoryService:  at(c.History),
		primitives.MatchingService: at(c.Matching),
		primitives.WorkerService:   at(c.Worker),
	}
}

// limits lifts the rate limits that protect a shared cluster: here one stack
// has the server to itself, and a benchmark should meet the machine's limits.
func limits() dynamicconfig.StaticClient {
	const unlimited = 100_000
	return dynamicconfig.StaticClient{
		dynamicconfig.FrontendRPS.Key():                                  unlimited,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key():           unlimited,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 100,
		// Some 8 KB each, 128,000 by default. What happens to a run that is not among
		// them reads it from Postgres first.
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 32_768,
	}
}
