package main

// palindrome is the order of the samples of one round: everybody there and back
// again, A B B A, so that a machine that gets slower or faster meanwhile treats
// all alike.
func palindrome(sides int) []int {
	order := make([]int, 0, 2*sides)
	for i := range sides {
		order = append(order, i)
	}
	for i := range sides {
		order = append(order, sides-1-i)
	}
	return order
}
