package store

// What the plan test of the vitals looks at.
var (
	VitalsOutboxSQL  = vitalsOutboxSQL
	VitalsLagSQL     = vitalsLagSQL
	VitalsUploadsSQL = vitalsUploadsSQL
)
