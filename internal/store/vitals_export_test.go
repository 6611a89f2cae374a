package store

// What the tests of the vitals look at.
var (
	VitalsOutboxSQL      = vitalsOutboxSQL
	VitalsLagSQL         = vitalsLagSQL
	VitalsCountsSQL      = vitalsCountsSQL
	VitalsUploadsSQL     = vitalsUploadsSQL
	VitalsSweepsSQL      = vitalsSweepsSQL
	VitalsTransactionSQL = vitalsTransactionSQL
)
