package config

// Tracing reports whether the environment asks for OpenTelemetry traces by one
// of its standard variables.
func (c Config) Tracing() bool { return c.exports("TRACES") }

// MetricsPushed reports whether it asks for OpenTelemetry metrics, beside those
// that Prometheus scrapes.
func (c Config) MetricsPushed() bool { return c.exports("METRICS") }

func (c Config) exports(signal string) bool {
	env := *c.environ
	exporter := env["OTEL_"+signal+"_EXPORTER"]
	if env["OTEL_SDK_DISABLED"] == "true" || exporter == "none" {
		return false
	}
	return exporter != "" || env["OTEL_EXPORTER_OTLP_ENDPOINT"] != "" ||
		env["OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT"] != ""
}
