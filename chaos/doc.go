// Package chaos breaks the whole product on purpose, under load, and checks
// that nothing was lost and nothing was doubled. All of it are tests:
//
//	make chaos SEED= DUR= LOAD=   a random run: faults by chance, from one seed
//	make chaos ROW=9              one named row of the fault matrix
//
// docs/chaos.md says what a run does and prints, how it is repeated, and how a
// row is added. The parts, each in a harness_*_test.go:
//
//   - schedule: what a seed leads to, as a file that can be run again
//   - world: the organizations, their people and their pipeline
//   - client, people, integrator: the load, over HTTP only
//   - history: what every client saw of every call
//   - run: the running product, with two of each process
//   - faults: what can be broken, and how it is healed
//   - recover: how it is seen that everything works again
//   - check, model, audit: what clients saw, against what is there
//   - row: a row of the matrix, from load to verdict
//   - served: whether clients were served on while something was broken
package chaos
