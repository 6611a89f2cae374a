package store

// What the tests of the vitals look at.
var (
	VitalsOutboxSQL      = vitalsOutboxSQL
	VitalsLagSQL         = vitalsLagSQL
	VitalsUploadsSQL     = vitalsUploadsSQL
	VitalsTransactionSQL = vitalsTransactionSQL
)
