package store

// What the tests of the vitals look at.
var (
	VitalsOutboxSQL      = vitalsOutboxSQL
	OutboxVainSQL        = outboxVainSQL
	VitalsLagSQL         = vitalsLagSQL
	VitalsCountsSQL      = vitalsCountsSQL
	VitalsUploadsSQL     = vitalsUploadsSQL
	VitalsSweepsSQL      = vitalsSweepsSQL
	VitalsTransactionSQL = vitalsTransactionSQL
)
